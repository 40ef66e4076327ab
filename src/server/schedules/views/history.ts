import type { ScheduleSpec } from '../../../core/schedule/firing/schedule-spec.ts'
import type { OccurrenceReason } from '../../../core/schedule/firing/occurrence.ts'
import type { FireTimes } from '../../../core/schedule/firing/firing-plan.ts'
import { publicId } from '../../../core/ids.ts'
import { deadlineOf } from '../../../core/expectation/terms.ts'
import type { RuleSource } from '../../../core/schedule/index.ts'
import type {
  WireBackfilledRun,
  WireViolation,
  WireOccurrence,
} from '../../../core/schedule/definition/schedule-views.ts'
import { formatTime } from '../../../core/wire/runs.ts'
import type {
  BackfilledTime,
  ViolationRecord,
  OccurrenceRecord,
  RunRecord,
  ScheduleRecord,
} from '../../../store/port.ts'
import { activePause, timeOrNull } from './show-schedule.ts'

/** A time without an outcome yet, and what will keep it from becoming a run. */
export interface OpenOccurrence {
  readonly nominalAt: number
  readonly reason: OccurrenceReason | null
}

/**
 * The times in [from, until] without an outcome: future ones, and those that wait to be fired or
 * for the end of a pause.
 */
export function openTimes(
  { next, pause, skipNominalAt }: ScheduleRecord,
  times: FireTimes,
  range: { readonly from: number; readonly until: number; readonly limit: number },
  now: number,
): OpenOccurrence[] {
  const { from, until, limit } = range
  if (next.nominalAt === null) return []
  // A schedule that follows the end of a run has no second time before that run has ended.
  const isAlone = times.afterFinish !== null
  if (isAlone && next.nominalAt < from) return []
  const held = activePause(pause, now)
  const reasonOf = (at: number): OccurrenceReason | null => {
    if (held && (held.until === null || at <= held.until)) {
      return held.byJob ? 'job_paused' : 'paused'
    }
    return at === skipNominalAt ? 'asked' : null
  }
  const found: OpenOccurrence[] = []
  let at = next.nominalAt >= from ? next.nominalAt : times.next(from - 1)
  while (at !== null && at <= until && found.length < limit) {
    found.push({ nominalAt: at, reason: reasonOf(at) })
    at = isAlone ? null : times.next(at)
  }
  return found
}

export function showOpen({ nominalAt, reason }: OpenOccurrence, now: number): WireOccurrence {
  const time = formatTime(nominalAt, 'nominal_at')
  const outcome = nominalAt > now ? 'planned' : 'due'
  return { ...NOTHING_YET, nominal_at: time, until: time, count: 1, outcome, reason }
}

const NOTHING_YET = {
  detail: null,
  run: null,
  run_state: null,
  other_run: null,
  late_ms: null,
  started_at: null,
  finished_at: null,
  slow: null,
  overdue: null,
  lapses: [],
  backfills: [],
} as const

export function showRecord(
  record: OccurrenceRecord,
  {
    spec,
    times,
    run,
    lapses: violations,
    backfills,
    now,
  }: {
    readonly spec: ScheduleSpec<RuleSource>
    readonly times: FireTimes | undefined
    readonly run: RunRecord | undefined
    readonly lapses: readonly ViolationRecord[]
    readonly backfills: readonly WireBackfilledRun[]
    readonly now: number
  },
): WireOccurrence {
  const { nominalAt, untilAt, count, outcome, reason, detail, runId, otherRunId } = record
  const fireAt = nominalAt + (times?.jitterOf(nominalAt) ?? 0)
  return {
    nominal_at: formatTime(nominalAt, 'nominal_at'),
    until: formatTime(untilAt, 'until'),
    count,
    outcome,
    reason,
    detail,
    run: runId === null ? null : publicId('run', runId),
    run_state: run?.state ?? null,
    other_run: otherRunId === null ? null : publicId('run', otherRunId),
    late_ms: runId === null ? null : Math.max(0, record.at - fireAt),
    started_at: timeOrNull(run?.startedAt ?? null),
    finished_at: timeOrNull(run?.finishedAt ?? null),
    ...judged(spec, nominalAt, run, now),
    lapses: violations.map(showViolation),
    backfills,
  }
}

/** A time before the schedule existed that has a backfilled run. */
export function showBackfilled(
  nominalAt: number,
  backfills: readonly WireBackfilledRun[],
  run: RunRecord | undefined,
): WireOccurrence {
  const time = formatTime(nominalAt, 'nominal_at')
  const { run: id = null, run_state = null } = backfills.at(-1) ?? {}
  return {
    ...NOTHING_YET,
    nominal_at: time,
    until: time,
    count: 1,
    reason: null,
    outcome: 'backfilled',
    run: id,
    run_state,
    backfills,
    started_at: timeOrNull(run?.startedAt ?? null),
    finished_at: timeOrNull(run?.finishedAt ?? null),
  }
}

export function showBackfilledRun(
  { nominalAt, runId, backfillId }: BackfilledTime,
  run: RunRecord | undefined,
): WireBackfilledRun {
  return {
    nominal_at: formatTime(nominalAt, 'nominal_at'),
    run: publicId('run', runId),
    run_state: run?.state ?? null,
    backfill: publicId('bkf', backfillId),
  }
}

/** Whether its run has met the expectations of the schedule so far. */
function judged(
  spec: ScheduleSpec<RuleSource>,
  nominalAt: number,
  run: RunRecord | undefined,
  now: number,
): Pick<WireOccurrence, 'slow' | 'overdue'> {
  if (!run) return { slow: null, overdue: null }
  const { expectMs, rule } = spec
  const deadlineAt = deadlineOf(spec, { nominalAt, zone: rule.zone ?? 'UTC' })
  const endedAt = run.finishedAt ?? now
  const took = run.startedAt === null ? 0 : endedAt - run.startedAt
  return {
    slow: expectMs === undefined ? null : took > expectMs,
    overdue: deadlineAt === null ? null : endedAt > deadlineAt,
  }
}

function showViolation({ kind, dueAt, at }: ViolationRecord): WireViolation {
  return {
    kind,
    due_at: formatTime(dueAt, 'due_at'),
    noticed_at: formatTime(at, 'noticed_at'),
  }
}
