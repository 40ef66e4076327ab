import { attemptsOf } from './attempts.ts'
import type { History, Traits } from './history.ts'
import { attemptLaws, countZombies } from './invariants/attempt-invariants.ts'
import { cancelLaws } from './invariants/cancel-invariants.ts'
import { countingLaws } from './invariants/counting-invariants.ts'
import { endingLaws } from './invariants/run-end-invariants.ts'
import { gateLaws } from './invariants/gate-invariants.ts'
import { outcomeLaws } from './invariants/outcome-invariants.ts'
import { submissionLaws } from './invariants/submission-invariants.ts'
import type { Violation } from './violation.ts'

export interface Findings {
  readonly violations: readonly Violation[]
  /** Attempts that overlapped because their worker was frozen: no violation, if fences did their part. */
  readonly zombies: number
}

/**
 * Judges a history by what was promised. Nothing of the product is imported here, or by anything
 * that is imported here: a mistake in the one cannot excuse itself in the other.
 */
export function check(history: History): Findings {
  const attempts = attemptsOf(history)
  const traitsOf = traitsByRun(history)
  const violations = [
    ...submissionLaws(history),
    ...endingLaws(history),
    ...outcomeLaws(history, attempts),
    ...attemptLaws(history, attempts, traitsOf),
    ...countingLaws(history, attempts),
    ...gateLaws(attempts, traitsOf),
    ...cancelLaws(history, attempts),
  ]
  return { violations, zombies: countZombies(attempts) }
}

function traitsByRun({ client, dump }: History): Map<string, Traits> {
  const byKey = new Map<string, Traits>()
  for (const note of client) {
    if (note.op === 'submit' && note.traits) byKey.set(note.key, note.traits)
  }
  return new Map(dump.runs.map(({ run, key }) => [run, byKey.get(key) ?? {}]))
}
