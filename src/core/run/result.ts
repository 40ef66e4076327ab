import { LIMITS } from '../limits.ts'

/**
 * Why a text cannot be the result of a run; `undefined` if it can. Workers ask before they report:
 * once the server has refused it, there is less to say about why.
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
