import {
  isWanted,
  type PastTime,
  type BackfillSelection,
} from '../../../core/schedule/backfill/backfill.ts'
import type {
  BackfillStore,
  OccurrenceRecord,
  RunQueries,
  RunRecord,
  ScheduleStore,
} from '../../../store/port.ts'

export type PastStore = Pick<ScheduleStore, 'occurrences'> &
  Pick<BackfillStore, 'backfilledTimes'> &
  Pick<RunQueries, 'findRuns'>

/** Few times rarely have more runs than this. */
const MOST_RUNS = 10_000

/** Which of these times of a schedule should get a run, in any order. */
export async function wantedAmong(
  store: PastStore,
  scheduleId: number,
  times: readonly number[],
  which: BackfillSelection,
): Promise<ReadonlySet<number>> {
  if (times.length === 0) return new Set()
  const from = Math.min(...times)
  const until = Math.max(...times)
  const range = { scheduleId, from, until, limit: MOST_RUNS }
  const [records, backfilled] = await Promise.all([
    store.occurrences(range),
    store.backfilledTimes(range),
  ])
  const runsOf = new Map<number, number[]>()
  for (const { nominalAt, runId } of records) if (runId !== null) runsOf.set(nominalAt, [runId])
  for (const { nominalAt, runId } of backfilled) {
    runsOf.set(nominalAt, [...(runsOf.get(nominalAt) ?? []), runId])
  }
  const latestIds = [...runsOf.values()].map((ids) => Math.max(...ids))
  const found = await store.findRuns({ runIds: latestIds })
  const runs = new Map(found.map((run) => [run.id, run]))
  return new Set(
    times.filter((at) => isWanted(which, storyOf(at, records, runsOf.get(at) ?? [], runs))),
  )
}

function storyOf(
  at: number,
  records: readonly OccurrenceRecord[],
  runIds: readonly number[],
  runs: ReadonlyMap<number, RunRecord>,
): PastTime {
  const record = records.find(({ nominalAt, untilAt }) => nominalAt <= at && at <= untilAt)
  return {
    outcome: record?.outcome ?? null,
    hadRun: runIds.length > 0,
    latest: runs.get(Math.max(...runIds))?.state ?? null,
  }
}
