import { publicId } from '../ids.ts'
import type { FinalState } from './run-state.ts'

/** How an earlier run must have ended before the next one may start: successfully, otherwise, or in any way. */
export const WANTED_OUTCOMES = ['ok', 'notok', 'any'] as const
export type WantedOutcome = (typeof WANTED_OUTCOMES)[number]

/** An earlier run that a run waits for. */
export interface Need {
  readonly runId: number
  readonly wants: WantedOutcome
}

/** The final state of the earlier run: null if it has not ended, undefined if it has been deleted. */
export type NeedState = FinalState | null | undefined

export type NeedsVerdict =
  | { readonly kind: 'waits' }
  | { readonly kind: 'released' }
  /** The run can no longer start. */
  | { readonly kind: 'skipped'; readonly message: string }

/** One need that can no longer be met is decisive, whatever the state of the others. */
export function evaluateNeeds(
  needs: readonly Need[],
  stateOf: (runId: number) => NeedState,
): NeedsVerdict {
  let isOpen = false
  for (const { runId, wants } of needs) {
    const state = stateOf(runId)
    if (state === null) isOpen = true
    else if (state === undefined) return skipped(runId, 'is not there any more')
    else if (!isMet(wants, state)) return skipped(runId, `ended as ${state}`)
  }
  return isOpen ? { kind: 'waits' } : { kind: 'released' }
}

function isMet(wants: WantedOutcome, state: FinalState): boolean {
  return wants === 'any' || (wants === 'ok') === (state === 'succeeded')
}

function skipped(runId: number, what: string): NeedsVerdict {
  return { kind: 'skipped', message: `${publicId('run', runId)} ${what}` }
}
