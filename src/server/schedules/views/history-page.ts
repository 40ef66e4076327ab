import { decodeSpec } from '../../../core/schedule/firing/schedule-spec.ts'
import type { RuleSource } from '../../../core/schedule/index.ts'
import type { WireOccurrence } from '../../../core/schedule/definition/schedule-views.ts'
import type { WirePage } from '../../../core/wire/views.ts'
import type {
  BackfillStore,
  ExpectationStore,
  RunQueries,
  RunRecord,
  ScheduleRecord,
  ScheduleStore,
} from '../../../store/port.ts'
import { encodeCursor } from '../../paging/cursor.ts'
import { openTimes, showBackfilled, showBackfilledRun, showOpen, showRecord } from './history.ts'
import type { RuleCache } from '../rule-cache.ts'
import { mergeTimes, type MergedTime } from './merge-times.ts'

export type HistoryStore = Pick<ScheduleStore, 'occurrences'> &
  Pick<BackfillStore, 'backfilledTimes'> &
  Pick<RunQueries, 'findRuns'> &
  Pick<ExpectationStore, 'violationsOf'>

interface HistoryRange {
  readonly from: number
  readonly until: number
  readonly limit: number
}

/** Maximum number of backfilled runs read for a page, and shown with one range. */
const MOST_MADE = 1_000
const MOST_SHOWN = 100

/**
 * A page of planned times and actual runs. The schedule must have been read before: a time that
 * fires meanwhile is then found twice and shown once; in the other order it would be missing.
 */
export async function historyPage(
  record: ScheduleRecord,
  { from, until, limit }: HistoryRange,
  { store, rules, now }: { store: HistoryStore; rules: RuleCache; now: number },
): Promise<WirePage<WireOccurrence>> {
  const most = limit + 1
  const range = { scheduleId: record.id, from, until }
  const past = await store.occurrences({ ...range, limit: most })
  const made = await store.backfilledTimes({ ...range, limit: MOST_MADE })
  const isCut = past.length === most || made.length === MOST_MADE
  const merged = mergeTimes(
    { list: past, isCut: past.length === most },
    { list: made, isCut: made.length === MOST_MADE },
  ).slice(0, most)
  const parsed = rules(record.spec)
  const times = parsed.ok ? parsed.times : undefined
  const after = Math.max(from, (merged.at(-1)?.untilAt ?? 0) + 1)
  const rest = { from: after, until, limit: most - merged.length }
  const open = times && !isCut ? openTimes(record, times, rest, now) : []
  const viewOf = await createOccurrenceView(merged, { spec: record.spec, times, store, now })
  const shownRecords = [
    ...merged.map((one) => ({ untilAt: one.untilAt, shown: viewOf(one) })),
    ...open.map((one) => ({ untilAt: one.nominalAt, shown: showOpen(one, now) })),
  ].slice(0, limit)
  const last = shownRecords.at(-1)
  const hasMore = (isCut || merged.length + open.length > limit) && last !== undefined
  return {
    data: shownRecords.map(({ shown }) => shown),
    next_cursor: hasMore ? encodeCursor(last.untilAt + 1) : null,
  }
}

/** Reads the runs of some times and returns a function that shows each time. */
async function createOccurrenceView(
  merged: readonly MergedTime[],
  {
    spec: text,
    times,
    store,
    now,
  }: {
    readonly spec: string
    readonly times: Parameters<typeof openTimes>[1] | undefined
    readonly store: HistoryStore
    readonly now: number
  },
): Promise<(time: MergedTime) => WireOccurrence> {
  const own = merged.flatMap(({ record }) => record?.runId ?? [])
  const shown = merged.map((one) => ({ ...one, made: one.made.slice(0, MOST_SHOWN) }))
  const runIds = [...own, ...shown.flatMap(({ made }) => made.map(({ runId }) => runId))]
  const runs = new Map((await store.findRuns({ runIds })).map((run) => [run.id, run]))
  const violations = Map.groupBy(await store.violationsOf(own), ({ runId }) => runId)
  const spec = decodeSpec<RuleSource>(text)
  const runOf = (runId: number | null | undefined): RunRecord | undefined => runs.get(runId ?? -1)

  return ({ nominalAt, record, made: all }) => {
    const made = all.slice(0, MOST_SHOWN)
    const backfills = made.map((one) => showBackfilledRun(one, runOf(one.runId)))
    if (!record) return showBackfilled(nominalAt, backfills, runOf(made.at(-1)?.runId))
    return showRecord(record, {
      spec,
      times,
      now,
      backfills,
      run: runOf(record.runId),
      lapses: violations.get(record.runId ?? -1) ?? [],
    })
  }
}
