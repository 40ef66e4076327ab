import type { RecordedAttempt } from '../attempts.ts'
import type { Dump, DumpedRun, History, TruthNote } from '../history.ts'
import type { Violation } from '../violation.ts'

/** The database's outcome of an attempt is what the attempt reported, and what its worker was answered. */
export function outcomeInvariants(
  { truth, dump }: History,
  attempts: readonly RecordedAttempt[],
): Violation[] {
  const verdicts = truth.filter(({ what }) => what === 'ACCEPTED' || what === 'STALE')
  return [
    ...outcomesAreReported(dump, attempts),
    ...acceptedIsKept(
      dump,
      verdicts.filter(({ what }) => what === 'ACCEPTED'),
    ),
    ...verdictsAreFinal(verdicts),
  ]
}

/** Exactly one attempt with that fence reported the outcome in the database. */
function outcomesAreReported(dump: Dump, attempts: readonly RecordedAttempt[]): Violation[] {
  const byRun = Map.groupBy(attempts, ({ run }) => run)
  return dump.runs.flatMap((row) => {
    const { run, fence, cause, resultFence } = row
    const outcome = outcomeOf(row)
    const isReported = outcome === 'succeeded' || outcome === 'failed'
    const witnesses = (byRun.get(run) ?? []).filter(
      (attempt) => attempt.fence === fence && attempt.outcome === outcome,
    )
    const isRightResult = resultFence === (outcome === 'succeeded' ? fence : null)
    if (isRightResult && (!isReported || witnesses.length === 1)) return []
    const detail = `is ${outcome} (${cause}) under fence ${fence} with the result of fence ${resultFence}, and ${witnesses.length} attempts reported it`
    return [{ invariant: 'an outcome is what an attempt reported', subject: run, detail } as const]
  })
}

/** A worker that gets `accepted` forgets the attempt, so its outcome must be in the database. */
function acceptedIsKept(dump: Dump, accepted: readonly TruthNote[]): Violation[] {
  const runs = new Map(dump.runs.map((run) => [run.run, run]))
  const wentOn = new Map(dump.attempts.map(({ run, fence, cause }) => [`${run} ${fence}`, cause]))
  return accepted.flatMap(({ run, fence, outcome }) => {
    const row = runs.get(run)
    const kept =
      row?.fence === fence ? outcomeOf(row) : outcomeOfCause(wentOn.get(`${run} ${fence}`))
    if (outcome === 'given_back' || kept === outcome) return []
    // A pending cancel turns every failure into a cancellation.
    if (outcome === 'failed' && kept === 'cancelled') return []
    const detail = `got accepted for ${outcome} under fence ${fence}; the database has ${kept ?? 'nothing'}`
    return [{ invariant: 'an accepted outcome is kept', subject: run, detail } as const]
  })
}

function outcomeOf({ state, cause }: DumpedRun): string {
  return state === 'failed' && cause === 'lost' ? 'lost' : state
}

function outcomeOfCause(cause: string | undefined): string | undefined {
  return cause === undefined || cause === 'lost' ? cause : 'failed'
}

function verdictsAreFinal(verdicts: readonly TruthNote[]): Violation[] {
  // A lease that was given back leaves no trace, so a repeated report of it is correctly stale.
  const lasting = verdicts.filter(({ outcome }) => outcome !== 'given_back')
  const byReport = Map.groupBy(lasting, ({ run, fence, outcome }) => `${run} ${fence} ${outcome}`)
  return [...byReport].flatMap(([report, notes]) => {
    if (new Set(notes.map(({ what }) => what)).size === 1) return []
    const detail = 'was accepted and was stale'
    return [{ invariant: 'a verdict is final', subject: report, detail } as const]
  })
}
