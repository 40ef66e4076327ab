import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'

/** Reads a whole number from a flag. */
export function readCount(text: string, flag: string, least: 0 | 1 = 1): number {
  const isCount = /^(?:0|[1-9]\d{0,5})$/.test(text)
  if (isCount && Number(text) >= least) return Number(text)
  throw new Failure(`${flag} is "${text}" and not a whole number, ${least} or more`, {
    exitCode: EXIT.usage,
  })
}
