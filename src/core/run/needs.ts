import { publicId } from '../ids.ts'
import type { FinalState } from './run-state.ts'

/** How a run has to have ended before another may start: well, otherwise, or no matter how. */
export const WANTED = ['ok', 'notok', 'any'] as const
export type Wanted = (typeof WANTED)[number]

/** A run that another is to start after. */
export interface Need {
  readonly runId: number
  readonly wants: Wanted
}

/** What became of it: null if it has not ended, undefined if nobody knows it any more. */
export type NeedState = FinalState | null | undefined

export type NeedsVerdict =
  | { readonly kind: 'waits' }
  | { readonly kind: 'released' }
  /** It can never start now. */
  | { readonly kind: 'skipped'; readonly message: string }

/** One need that cannot be met any more decides, whatever the others are up to. */
export function judgeNeeds(
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

function isMet(wants: Wanted, state: FinalState): boolean {
  return wants === 'any' || (wants === 'ok') === (state === 'succeeded')
}

function skipped(runId: number, what: string): NeedsVerdict {
  return { kind: 'skipped', message: `${publicId('run', runId)} ${what}` }
}
