import { decodeSpec } from '../../../core/schedule/firing/schedule-spec.ts'
import type { FireTimes } from '../../../core/schedule/firing/firing-plan.ts'
import { publicId } from '../../../core/ids.ts'
import { writeSchedule } from '../../../core/schedule/definition/schedule-definition.ts'
import type { RuleSource } from '../../../core/schedule/index.ts'
import type {
  ScheduleState,
  WireSchedule,
} from '../../../core/schedule/definition/schedule-views.ts'
import { scheduleWords } from '../../../core/schedule/definition/describe-schedule.ts'
import { formatTime } from '../../../core/wire/runs.ts'
import type { SchedulePause, ScheduleRecord } from '../../../store/port.ts'
import type { RuleCache } from '../rule-cache.ts'

export interface ShowScheduleOptions {
  readonly rules: RuleCache
  readonly now: number
  jobName(id: number): string
  nameOf(actor: number | null): string
}

/** A schedule as the API shows it. */
export function showSchedule(record: ScheduleRecord, showing: ShowScheduleOptions): WireSchedule {
  const { name, version, error, pause } = record
  const { rules, now } = showing
  const spec = decodeSpec<RuleSource>(record.spec)
  const parsed = rules(record.spec)
  return {
    id: publicId('sch', record.id),
    job: showing.jobName(record.jobId),
    name,
    version,
    definition: writeSchedule(spec),
    words: scheduleWords(spec.rule),
    state: stateOf(record, now),
    next: timeOrNull(parsed.ok ? nextRunAt(record, parsed.times, now) : null),
    last: timeOrNull(record.lastNominalAt),
    skipping: timeOrNull(record.skipNominalAt),
    paused: activePause(pause, now) && showPause(pause as SchedulePause),
    error,
    declared: spec.declared ?? false,
    updated_at: formatTime(record.updatedAt, 'updated_at'),
    updated_by: showing.nameOf(record.updatedBy),
  }
}

/** The pause in force; one that has ended may still be stored. */
export function activePause(pause: SchedulePause | null, now: number): SchedulePause | null {
  if (!pause || pause.resumedAt !== null) return null
  return pause.until !== null && pause.until <= now ? null : pause
}

export function stateOf({ next, pause, error }: ScheduleRecord, now: number): ScheduleState {
  if (error !== null) return 'error'
  if (activePause(pause, now)) return 'paused'
  return next.nominalAt === null && next.checkAt === null ? 'ended' : 'active'
}

/** The next time that is expected to become a run. */
export function nextRunAt(record: ScheduleRecord, times: FireTimes, now: number): number | null {
  const { skipNominalAt, error } = record
  let { nominalAt } = record.next
  if (nominalAt === null || error !== null) return null
  const pause = activePause(record.pause, now)
  if (pause && pause.until === null) return null
  if (pause?.until && nominalAt <= pause.until) nominalAt = times.next(pause.until)
  return nominalAt !== null && nominalAt === skipNominalAt ? times.next(nominalAt) : nominalAt
}

export function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : formatTime(ms, 'time')
}

function showPause({ at, until, reason, byJob }: SchedulePause): WireSchedule['paused'] {
  return {
    since: formatTime(at, 'since'),
    until: timeOrNull(until),
    reason,
    by_job: byJob,
  }
}
