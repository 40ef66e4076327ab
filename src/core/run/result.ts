import { LIMITS } from '../limits.ts'

/**
 * Why a text cannot be the result of a run; `undefined` if it can. Workers check before they report, because the
 * server's error would contain less detail.
 */
export function refuseResult(text: string): string | undefined {
  const bytes = Buffer.byteLength(text)
  if (bytes > LIMITS.resultBytes) {
    return `has ${bytes} bytes; at most ${LIMITS.resultBytes} are accepted`
  }
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `is not JSON: ${(error as Error).message}`
  }
}
