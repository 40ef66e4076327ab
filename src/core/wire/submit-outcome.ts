import { PunctualError } from '../errors.ts'
import type { SubmitAnswer } from './protocol.ts'

export type SubmitOutcome = SubmitAnswer | PunctualError

/** All answers; throws the first error. Callers that need the accepted part of a batch use `submitEach` instead. */
export function throwFirstError(outcomes: readonly SubmitOutcome[]): SubmitAnswer[] {
  return outcomes.map((outcome) => {
    if (outcome instanceof PunctualError) throw outcome
    return outcome
  })
}
