/**
 * What did not come true of what people expect of a run. Each is told once for a run:
 * - `late`: it had not started in time.
 * - `slow`: it has been running for longer than it should.
 * - `unfinished`: it had not ended by its deadline.
 * - `empty`: it succeeded, but printed nothing and gave no result.
 */
export const LAPSES = ['late', 'slow', 'unfinished', 'empty'] as const
export type LapseKind = (typeof LAPSES)[number]

/** How a kind is stored, in both databases. Codes are forever. */
export const LAPSE_CODE = {
  late: 0,
  slow: 1,
  unfinished: 2,
  empty: 3,
} as const satisfies Record<LapseKind, number>

export function lapseOfCode(code: number): LapseKind {
  const kind = LAPSES.find((one) => LAPSE_CODE[one] === code)
  if (kind === undefined) throw new RangeError(`no lapse has code ${code}`)
  return kind
}

export interface Lapse {
  readonly kind: LapseKind
  /** When it should have started, or ended; of an empty one, when it did. */
  readonly dueAt: number
}
