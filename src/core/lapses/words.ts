import type { Lapse } from '../expectation/violation.ts'

/** For people; `who` is the run, or its job. */
export function lapseSentence(who: string, { kind, dueAt }: Lapse): string {
  const time = new Date(dueAt).toISOString()
  switch (kind) {
    case 'late':
      return `${who} should have started by ${time}.`
    case 'slow':
      return `${who} should not have taken longer than until ${time}.`
    case 'unfinished':
      return `${who} should have ended by ${time}.`
    case 'empty':
      return `${who} succeeded, but printed nothing and gave no result.`
  }
}
