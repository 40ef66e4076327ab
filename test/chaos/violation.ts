export interface Violation {
  readonly invariant: Invariant
  /** The run, key or process concerned. */
  readonly subject: string
  readonly detail: string
}

export const INVARIANTS = [
  'an acknowledged run exists',
  'a refused run does not exist',
  'a key is one run',
  'a run was submitted',
  'a started run exists',
  'a run ends',
  'a run ends once',
  'no work remains',
  'an outcome is what an attempt reported',
  'an accepted outcome is kept',
  'a verdict is final',
  'a fence is one attempt',
  'an attempt ends',
  'attempts do not overlap',
  'at most once is at most once',
  'starts are bounded',
  'a start is counted',
  'a run does not start early',
  'a gate is not exceeded',
  'a cancel is not undone',
  'no process dies by itself',
] as const
export type Invariant = (typeof INVARIANTS)[number]

export function describeViolation({ invariant, subject, detail }: Violation): string {
  return `${invariant}: ${subject} ${detail}`
}
