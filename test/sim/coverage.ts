export const FAULTS = [
  'crash-worker',
  'crash-node',
  'freeze-worker',
  'freeze-node',
  'cut-node-from-store',
  'cut-worker-from-node',
  'commit-then-error',
  'jump-clock',
  'long-outage',
  'drop',
  'repeat',
  'delay',
] as const
export type FaultName = (typeof FAULTS)[number]

/** States a run can be in before workflows arrive (`skipped` needs a dependency). */
export const COVERED_STATES = [
  'blocked',
  'scheduled',
  'ready',
  'running',
  'succeeded',
  'failed',
  'cancelled',
] as const

/** How often each fault hit while a run was in each state: shows that the faults cover every state. */
export interface Coverage {
  record(fault: FaultName, state: string): void
  count(fault: FaultName, state: string): number
  /** Pairs counted fewer than `least` times. */
  missing(least: number): string[]
  table(): string
  add(other: Record<string, number>): void
  plain(): Record<string, number>
}

export function createCoverage(): Coverage {
  const counts = new Map<string, number>()
  const key = (fault: string, state: string) => `${fault} × ${state}`
  const count = (fault: string, state: string) => counts.get(key(fault, state)) ?? 0
  return {
    record: (fault, state) => void counts.set(key(fault, state), count(fault, state) + 1),
    count,
    missing: (least) =>
      FAULTS.flatMap((fault) =>
        COVERED_STATES.filter((state) => count(fault, state) < least).map((state) =>
          key(fault, state),
        ),
      ),
    table() {
      const rows = FAULTS.map((fault) =>
        [
          fault.padEnd(22),
          ...COVERED_STATES.map((state) => String(count(fault, state)).padStart(10)),
        ].join(''),
      )
      return [
        `${''.padEnd(22)}${COVERED_STATES.map((s) => s.padStart(10)).join('')}`,
        ...rows,
      ].join('\n')
    },
    add(other) {
      for (const [pair, times] of Object.entries(other))
        counts.set(pair, (counts.get(pair) ?? 0) + times)
    },
    plain: () => Object.fromEntries(counts),
  }
}
