import { decodeSpec } from '../../core/schedule/firing/schedule-spec.ts'
import type { RuleSource } from '../../core/schedule/index.ts'
import type { WireOccurrence } from '../../core/schedule/definition/schedule-views.ts'
import type { WirePage } from '../../core/wire/views.ts'
import type {
  BackfillStore,
  LapseStore,
  RunQueries,
  RunRecord,
  ScheduleRecord,
  ScheduleStore,
} from '../../store/port.ts'
import { encodeCursor } from '../paging/cursor.ts'
import { openTimes, showBackfilled, showBackfilledRun, showOpen, showRecord } from './history.ts'
import type { RuleBook } from './rule-cache.ts'
import { weaveTimes, type WovenTime } from './merge-times.ts'

export type HistoryStore = Pick<ScheduleStore, 'occurrences'> &
  Pick<BackfillStore, 'backfilledTimes'> &
  Pick<RunQueries, 'findRuns'> &
  Pick<LapseStore, 'lapsesOf'>

interface HistoryRange {
  readonly from: number
  readonly until: number
  readonly limit: number
}

/** Runs of backfills that are read for a page, and shown with one range. */
const MOST_MADE = 1_000
const MOST_SHOWN = 100

/**
 * A page of planned against actual. The schedule must have been read before: a time that fires
 * meanwhile is then found in both places, and told once; the other way round it would be in none.
 */
export async function historyPage(
  record: ScheduleRecord,
  { from, until, limit }: HistoryRange,
  { store, rules, now }: { store: HistoryStore; rules: RuleBook; now: number },
): Promise<WirePage<WireOccurrence>> {
  const most = limit + 1
  const range = { scheduleId: record.id, from, until }
  const past = await store.occurrences({ ...range, limit: most })
  const made = await store.backfilledTimes({ ...range, limit: MOST_MADE })
  const isCut = past.length === most || made.length === MOST_MADE
  const woven = weaveTimes(
    { list: past, isCut: past.length === most },
    { list: made, isCut: made.length === MOST_MADE },
  ).slice(0, most)
  const understood = rules(record.spec)
  const times = understood.ok ? understood.times : undefined
  const after = Math.max(from, (woven.at(-1)?.untilAt ?? 0) + 1)
  const rest = { from: after, until, limit: most - woven.length }
  const open = times && !isCut ? openTimes(record, times, rest, now) : []
  const tell = await createTeller(woven, { spec: record.spec, times, store, now })
  const told = [
    ...woven.map((one) => ({ untilAt: one.untilAt, shown: tell(one) })),
    ...open.map((one) => ({ untilAt: one.nominalAt, shown: showOpen(one, now) })),
  ].slice(0, limit)
  const last = told.at(-1)
  const hasMore = (isCut || woven.length + open.length > limit) && last !== undefined
  return {
    data: told.map(({ shown }) => shown),
    next_cursor: hasMore ? encodeCursor(last.untilAt + 1) : null,
  }
}

/** Reads what is to be known of the runs of some times, and can tell of each. */
async function createTeller(
  woven: readonly WovenTime[],
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
): Promise<(time: WovenTime) => WireOccurrence> {
  const own = woven.flatMap(({ record }) => record?.runId ?? [])
  const shown = woven.map((one) => ({ ...one, made: one.made.slice(0, MOST_SHOWN) }))
  const runIds = [...own, ...shown.flatMap(({ made }) => made.map(({ runId }) => runId))]
  const runs = new Map((await store.findRuns({ runIds })).map((run) => [run.id, run]))
  const lapses = Map.groupBy(await store.lapsesOf(own), ({ runId }) => runId)
  const spec = decodeSpec<RuleSource>(text)
  const runOf = (runId: number | null | undefined): RunRecord | undefined => runs.get(runId ?? -1)

  return ({ nominalAt, record, made: all }) => {
    const made = all.slice(0, MOST_SHOWN)
    const backfills = made.map((one) => showBackfilledRun(one, runOf(one.runId)))
    if (!record) return showBackfilled(nominalAt, backfills, runOf(made.at(-1)?.runId))
    return showRecord(record, {
      ...{ spec, times, now, backfills },
      run: runOf(record.runId),
      lapses: lapses.get(record.runId ?? -1) ?? [],
    })
  }
}
