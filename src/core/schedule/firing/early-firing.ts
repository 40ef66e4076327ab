import { needsGate, type Overlap } from './overlap.ts'

/**
 * So long before its instant a time may fire at most: its run is durable then, and nobody is told of it
 * before the instant. Whoever changes the schedule in between is answered after it, so it must not be long.
 */
export const AHEAD_MS = 1_000

interface Firing {
  readonly settled: readonly (
    | { readonly kind: 'none' }
    | { readonly kind: 'run'; readonly run: Run }
  )[]
  readonly overlap: Overlap
}

interface Run {
  readonly gates: readonly number[]
  /** The worker that waits for it. */
  readonly handOff: object | null
}

/**
 * Whether a firing comes out the same before its time as at it: one run, for a worker that waits, which
 * meets nobody but runs of its own schedule. Gates that others pass as well would be closed to them.
 */
export function mayGoAhead({ settled, overlap }: Firing): boolean {
  const [time, ...others] = settled
  if (time?.kind !== 'run' || others.length > 0 || time.run.handOff === null) return false
  return time.run.gates.length <= (needsGate(overlap) ? 1 : 0)
}
