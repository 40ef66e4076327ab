/** What happens to a nominal time while a run of the same schedule has not ended. */
export type Overlap =
  | { readonly kind: 'allow' | 'skip' | 'replace' }
  /** Up to `most` wait for their turn; what comes beyond is merged with the last of them. */
  | { readonly kind: 'queue'; readonly most: number }

export const DEFAULT_OVERLAP: Overlap = { kind: 'queue', most: 1 }

/** Nobody wants to wait behind more; and every one of them is looked at whenever the schedule fires. */
export const MOST_QUEUED = 100

export type Meeting =
  /** It becomes a run like any other. */
  | 'run'
  /** It becomes a run that has to wait for those that are open. */
  | 'wait'
  /** It becomes a run, and those that are open are cancelled. */
  | 'replace'
  | 'skip'
  | 'merge'

/** `open`: how many runs of the schedule have not ended. */
export function meet(overlap: Overlap, open: number): Meeting {
  if (open === 0 || overlap.kind === 'allow') return 'run'
  if (overlap.kind !== 'queue') return overlap.kind
  return open > overlap.most ? 'merge' : 'wait'
}

/**
 * Whether runs of the schedule pass a gate of their own, one at a time. With `skip` there is never a
 * second one; with `allow` there may be any number.
 */
export function needsGate({ kind }: Overlap): boolean {
  return kind === 'queue' || kind === 'replace'
}

/** Whether the schedule has to remember which of its runs are open. */
export function needsMemory({ kind }: Overlap): boolean {
  return kind !== 'allow'
}
