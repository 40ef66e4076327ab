import type { Attempt } from '../attempts.ts'
import type { Dump, DumpedRun, History, TruthNote } from '../history.ts'
import type { Violation } from '../violation.ts'

/** What the database says an attempt achieved is what that attempt said, and what it was told. */
export function outcomeLaws({ truth, dump }: History, attempts: readonly Attempt[]): Violation[] {
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

/** Whatever the database calls an attempt's outcome, exactly one attempt with that fence had it. */
function outcomesAreReported(dump: Dump, attempts: readonly Attempt[]): Violation[] {
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
    const detail = `is ${outcome} (${cause}) under fence ${fence} with the result of fence ${resultFence}, and ${witnesses.length} attempts say so`
    return [{ law: 'an outcome is what an attempt reported', subject: run, detail } as const]
  })
}

/** A worker that hears `accepted` forgets the attempt: its outcome had better be in the database. */
function acceptedIsKept(dump: Dump, accepted: readonly TruthNote[]): Violation[] {
  const runs = new Map(dump.runs.map((run) => [run.run, run]))
  const wentOn = new Map(dump.attempts.map(({ run, fence, cause }) => [`${run} ${fence}`, cause]))
  return accepted.flatMap(({ run, fence, outcome }) => {
    const row = runs.get(run)
    const kept =
      row?.fence === fence ? outcomeOf(row) : outcomeOfCause(wentOn.get(`${run} ${fence}`))
    if (outcome === 'given_back' || kept === outcome) return []
    // A cancel on its way turns every failure into a cancellation.
    if (outcome === 'failed' && kept === 'cancelled') return []
    const detail = `was told that ${outcome} under fence ${fence} is accepted; the database has ${kept ?? 'nothing'}`
    return [{ law: 'an accepted outcome is kept', subject: run, detail } as const]
  })
}

function outcomeOf({ state, cause }: DumpedRun): string {
  return state === 'failed' && cause === 'lost' ? 'lost' : state
}

function outcomeOfCause(cause: string | undefined): string | undefined {
  return cause === undefined || cause === 'lost' ? cause : 'failed'
}

function verdictsAreFinal(verdicts: readonly TruthNote[]): Violation[] {
  // What was given back leaves no trace, so a repeat of it is rightly stale.
  const lasting = verdicts.filter(({ outcome }) => outcome !== 'given_back')
  const byReport = Map.groupBy(lasting, ({ run, fence, outcome }) => `${run} ${fence} ${outcome}`)
  return [...byReport].flatMap(([report, notes]) => {
    if (new Set(notes.map(({ what }) => what)).size === 1) return []
    const detail = 'was accepted and was stale'
    return [{ law: 'a verdict is final', subject: report, detail } as const]
  })
}
