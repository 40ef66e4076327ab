import { recordedAttempts } from './attempts.ts'
import type { History, Traits } from './history.ts'
import { attemptInvariants, countZombies } from './invariants/attempt-invariants.ts'
import { cancelInvariants } from './invariants/cancel-invariants.ts'
import { countingInvariants } from './invariants/counting-invariants.ts'
import { runEndInvariants } from './invariants/run-end-invariants.ts'
import { gateInvariants } from './invariants/gate-invariants.ts'
import { outcomeInvariants } from './invariants/outcome-invariants.ts'
import { submissionInvariants } from './invariants/submission-invariants.ts'
import type { Violation } from './violation.ts'

export interface Findings {
  readonly violations: readonly Violation[]
  /** Attempts that overlapped because their worker was frozen: no violation if the fence kept the late result out. */
  readonly zombies: number
}

/**
 * Checks a history against the documented guarantees. Neither this file nor its imports may import product
 * code, so that a bug in the product cannot hide here.
 */
export function check(history: History): Findings {
  const attempts = recordedAttempts(history)
  const traitsOf = traitsByRun(history)
  const violations = [
    ...submissionInvariants(history),
    ...runEndInvariants(history),
    ...outcomeInvariants(history, attempts),
    ...attemptInvariants(history, attempts, traitsOf),
    ...countingInvariants(history, attempts),
    ...gateInvariants(attempts, traitsOf),
    ...cancelInvariants(history, attempts),
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
