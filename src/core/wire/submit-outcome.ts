import { PunctualError } from '../errors.ts'
import type { SubmitAnswer } from './protocol.ts'

export type SubmitOutcome = SubmitAnswer | PunctualError

/**
 * All answers, or the first refusal. Nobody has to remember to look for errors among answers; whoever
 * wants the rest of a batch that was partly refused asks with `submitEach`.
 */
export function requireAll(outcomes: readonly SubmitOutcome[]): SubmitAnswer[] {
  return outcomes.map((outcome) => {
    if (outcome instanceof PunctualError) throw outcome
    return outcome
  })
}
