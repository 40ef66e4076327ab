export interface Violation {
  readonly law: Law
  /** The run, key or process it is about. */
  readonly subject: string
  readonly detail: string
}

export const LAWS = [
  'an acknowledged run exists',
  'a refused run does not exist',
  'a key is one run',
  'a run was asked for',
  'a started run exists',
  'a run ends',
  'a run ends once',
  'nothing is left over',
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
  'processes die only by our hand',
] as const
export type Law = (typeof LAWS)[number]

export function describeViolation({ law, subject, detail }: Violation): string {
  return `${law}: ${subject} ${detail}`
}
