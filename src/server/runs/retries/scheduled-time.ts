import { localTime } from '../../../core/schedule/local-time.ts'
import type { BackfillStore, RunQueries, RunRecord, ScheduleStore } from '../../../store/port.ts'
import type { RuleCache } from '../../schedules/rule-cache.ts'
import { readWorkflowWork } from '../../workflows/workflow-work.ts'

export type ScheduledTimeOf = (run: RunRecord) => Promise<string>

interface Deps {
  readonly store: Pick<ScheduleStore, 'occurrenceOf' | 'findSchedules'> &
    Pick<BackfillStore, 'backfilledBy'> &
    Pick<RunQueries, 'findRuns'>
  readonly rules: RuleCache
  /** Zone of the scheduled time of runs that no schedule made. */
  readonly zone: string
}

/**
 * The time a run is for, in the zone of its schedule. A repeated run is for the time of the
 * original, so repeats are followed back: what a run reuses and what it does again must belong
 * together.
 */
export function createScheduledTimeOf({ store, rules, zone }: Deps): ScheduledTimeOf {
  const ownTimeOf = async ({ id: runId, work }: RunRecord): Promise<string | undefined> => {
    const ownTime = readWorkflowWork(work).scheduled_at
    if (ownTime !== undefined) return ownTime
    const time = (await store.occurrenceOf({ runId })) ?? (await store.backfilledBy({ runId }))
    if (!time) return undefined
    const [schedule] = await store.findSchedules([time.scheduleId])
    const parsed = schedule && rules(schedule.spec)
    const own = parsed?.ok ? parsed.spec.rule.zone : undefined
    return localTime(time.nominalAt, own ?? 'UTC')
  }

  return async (run) => {
    for (let one = run; ;) {
      const ownTime = await ownTimeOf(one)
      if (ownTime !== undefined) return ownTime
      const [before] = one.retryOf === null ? [] : await store.findRuns({ runIds: [one.retryOf] })
      if (!before) return localTime(one.dueAt ?? one.createdAt, zone)
      one = before
    }
  }
}
