/** What happens to a nominal time while an earlier run of the same schedule has not ended. */
export type Overlap =
  | { readonly kind: 'allow' | 'skip' | 'replace' }
  /** Up to `most` runs wait; further times are merged with the last waiting one. */
  | { readonly kind: 'queue'; readonly most: number }

export const DEFAULT_OVERLAP: Overlap = { kind: 'queue', most: 1 }

/** Limit for the number of waiting runs: all of them are read whenever the schedule fires. */
export const MAX_QUEUED = 100

export type OverlapDecision =
  /** Create a run as usual. */
  | 'run'
  /** Create a run that waits for the open ones. */
  | 'wait'
  /** Create a run and cancel the open ones. */
  | 'replace'
  | 'skip'
  | 'merge'

/** `open`: number of runs of the schedule that have not ended. */
export function decideOverlap(overlap: Overlap, open: number): OverlapDecision {
  if (open === 0 || overlap.kind === 'allow') return 'run'
  if (overlap.kind !== 'queue') return overlap.kind
  return open > overlap.most ? 'merge' : 'wait'
}

/**
 * Whether runs of the schedule pass a gate of their own, one at a time. `skip` never has a second run, and `allow`
 * permits any number.
 */
export function needsGate({ kind }: Overlap): boolean {
  return kind === 'queue' || kind === 'replace'
}

/** Whether the schedule must remember its open runs. */
export function needsMemory({ kind }: Overlap): boolean {
  return kind !== 'allow'
}
