import { needsGate, type Overlap } from './overlap.ts'

/**
 * Maximum lead time before the nominal fire time. The run is durable from then on, but it is not visible before its
 * nominal time. A request that changes the schedule in between is answered only after the nominal time, so the lead
 * time must be short.
 */
export const MAX_LEAD_MS = 1_000

interface Firing {
  readonly settled: readonly (
    | { readonly kind: 'none' }
    | { readonly kind: 'run'; readonly run: Run }
  )[]
  readonly overlap: Overlap
}

interface Run {
  readonly gates: readonly number[]
  /** The waiting worker session that receives the run by direct assignment. */
  readonly reservation: object | null
}

/**
 * Whether a firing has the same result before its time as at its time: a single run for a waiting worker, which
 * passes no gate except the gate of its own schedule. An early run would hold other gates while other runs need them.
 */
export function canFireEarly({ settled, overlap }: Firing): boolean {
  const [time, ...others] = settled
  if (time?.kind !== 'run' || others.length > 0 || time.run.reservation === null) return false
  return time.run.gates.length <= (needsGate(overlap) ? 1 : 0)
}
