/**
 * A violated expectation about a run. Each kind is reported once per run:
 * - `late`: the run had not started in time.
 * - `slow`: it has been running for longer than expected.
 * - `unfinished`: it had not ended by its deadline.
 * - `empty`: it succeeded, but printed nothing and returned no result.
 */
export const VIOLATION_KINDS = ['late', 'slow', 'unfinished', 'empty'] as const
export type ViolationKind = (typeof VIOLATION_KINDS)[number]

/** The stored codes of the kinds in both databases. Codes never change. */
export const VIOLATION_CODE = {
  late: 0,
  slow: 1,
  unfinished: 2,
  empty: 3,
} as const satisfies Record<ViolationKind, number>

export function violationKindOfCode(code: number): ViolationKind {
  const kind = VIOLATION_KINDS.find((one) => VIOLATION_CODE[one] === code)
  if (kind === undefined) throw new RangeError(`no kind of violation has code ${code}`)
  return kind
}

export interface ExpectationViolation {
  readonly kind: ViolationKind
  /** When the run should have started or ended; for `empty`, when it ended. */
  readonly dueAt: number
}

/** A sentence for users; `who` is the run or its job. */
export function describeExpectationViolation(
  who: string,
  { kind, dueAt }: ExpectationViolation,
): string {
  const time = new Date(dueAt).toISOString()
  switch (kind) {
    case 'late':
      return `${who} should have started by ${time}.`
    case 'slow':
      return `${who} is slow: it should have ended by ${time}.`
    case 'unfinished':
      return `${who} should have ended by ${time}.`
    case 'empty':
      return `${who} succeeded, but printed nothing and gave no result.`
  }
}
