import { decodeSpec } from '../../core/firing/spec.ts'
import type { WireOccurrence } from '../../core/schedule-views.ts'
import type { WirePage } from '../../core/views.ts'
import type { RuleSource } from '../../core/schedule/index.ts'
import type { LapseStore, RunQueries, ScheduleRecord, ScheduleStore } from '../../store/port.ts'
import { encodeCursor } from '../cursor.ts'
import { openTimes, showOpen, showRecord } from './history.ts'
import type { RuleBook } from './rule-book.ts'

type HistoryStore = Pick<ScheduleStore, 'occurrences'> &
  Pick<RunQueries, 'findRuns'> &
  Pick<LapseStore, 'lapsesOf'>

interface HistoryRange {
  readonly from: number
  readonly until: number
  readonly limit: number
}

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
  const past = await store.occurrences({ scheduleId: record.id, from, until, limit: most })
  const understood = rules(record.spec)
  const times = understood.ok ? understood.times : undefined
  const after = Math.max(from, (past.at(-1)?.untilAt ?? 0) + 1)
  const rest = { from: after, until, limit: most - past.length }
  const open = times ? openTimes(record, times, rest, now) : []
  const runIds = past.flatMap(({ runId }) => runId ?? [])
  const runs = new Map((await store.findRuns({ runIds })).map((run) => [run.id, run]))
  const lapses = Map.groupBy(await store.lapsesOf(runIds), ({ runId }) => runId)
  const spec = decodeSpec<RuleSource>(record.spec)
  const told = [
    ...past.map((one) => ({
      untilAt: one.untilAt,
      shown: showRecord(one, {
        ...{ spec, times, now },
        run: runs.get(one.runId ?? -1),
        lapses: lapses.get(one.runId ?? -1) ?? [],
      }),
    })),
    ...open.map((one) => ({ untilAt: one.nominalAt, shown: showOpen(one, now) })),
  ].slice(0, limit)
  const last = told.at(-1)
  const hasMore = past.length + open.length > limit && last !== undefined
  return {
    data: told.map(({ shown }) => shown),
    next_cursor: hasMore ? encodeCursor(last.untilAt + 1) : null,
  }
}
