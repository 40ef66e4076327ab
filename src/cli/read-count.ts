import { EXIT } from './exit-codes.ts'
import { Failure } from './failure.ts'

/** A number of things, as a flag gives it. */
export function readCount(text: string, flag: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new Failure(`${flag} is "${text}" and not a whole number, 1 or more`, {
    exitCode: EXIT.usage,
  })
}
