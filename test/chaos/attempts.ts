import type { InjectedFault, History } from './history.ts'

/** One start of a handler, as its worker recorded it. */
export interface RecordedAttempt {
  readonly run: string
  readonly fence: number
  readonly worker: string
  readonly startNs: number
  /** When the handler or its process ended; Infinity if neither is recorded. */
  readonly endNs: number
  /** Until when the worker is responsible: a frozen process cannot stop what it runs. */
  readonly answersUntilNs: number
  readonly outcome: string | null
}

/** How long before its first line an attempt may have been granted to a worker that was then frozen. */
const HANDOVER_NS = 100_000_000

export function recordedAttempts({
  truth,
  faults,
}: Pick<History, 'truth' | 'faults'>): RecordedAttempt[] {
  const ends = new Map<string, { atNs: number; outcome: string }>()
  for (const { what, worker, run, fence, atNs, outcome } of truth) {
    if (what === 'END') ends.set(`${worker} ${run} ${fence}`, { atNs, outcome })
  }
  const deaths = new Map<string, number>()
  for (const { kind, target, atNs } of faults) {
    if (kind === 'killed' || kind === 'died') deaths.set(target, atNs)
  }
  const freezes = Map.groupBy(
    faults.filter(({ kind }) => kind === 'frozen' || kind === 'thawed'),
    ({ target }) => target,
  )
  return truth
    .filter(({ what }) => what === 'START')
    .map(({ worker, run, fence, atNs: startNs }) => {
      const end = ends.get(`${worker} ${run} ${fence}`)
      const endNs = end?.atNs ?? Math.max(startNs, deaths.get(worker) ?? Infinity)
      const frozenNs = frozenDuring(freezes.get(worker) ?? [], startNs - HANDOVER_NS, endNs)
      return {
        run,
        fence,
        worker,
        startNs,
        endNs,
        answersUntilNs: Math.max(startNs, Math.min(endNs, frozenNs)),
        outcome: end?.outcome ?? null,
      }
    })
    .toSorted((a, b) => a.startNs - b.startNs)
}

/** Start of the first freeze that overlaps the interval; Infinity if there is none. */
function frozenDuring(freezes: readonly InjectedFault[], fromNs: number, toNs: number): number {
  const began = freezes.filter(({ kind }) => kind === 'frozen')
  const hit = began.find(({ atNs }) => {
    const thaw = freezes.find((fault) => fault.kind === 'thawed' && fault.atNs >= atNs)
    return atNs <= toNs && (thaw?.atNs ?? Infinity) >= fromNs
  })
  return hit?.atNs ?? Infinity
}
