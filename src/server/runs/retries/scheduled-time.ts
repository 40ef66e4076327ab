import { FLOW_EXECUTOR, type FlowWork } from '../../../core/work/workflow-work.ts'
import { localTime } from '../../../core/schedule/local-time.ts'
import type { BackfillStore, RunQueries, RunRecord, ScheduleStore } from '../../../store/port.ts'
import type { RuleBook } from '../../schedules/rule-cache.ts'

export type TimeFor = (run: RunRecord) => Promise<string>

interface Deps {
  readonly store: Pick<ScheduleStore, 'occurrenceOf' | 'findSchedules'> &
    Pick<BackfillStore, 'backfilledBy'> &
    Pick<RunQueries, 'findRuns'>
  readonly rules: RuleBook
  /** On whose clocks a run is that no schedule made. */
  readonly zone: string
}

/**
 * The time a run is for, as the clocks of its schedule show it. A run that repeats another is for the same
 * time, so this is followed back to what says it: what it reuses and what it does again belong together.
 */
export function createTimeFor({ store, rules, zone }: Deps): TimeFor {
  const saidBy = async ({ id: runId, work }: RunRecord): Promise<string | undefined> => {
    const said = readFlowWork(work).scheduled_at
    if (said !== undefined) return said
    const time = (await store.occurrenceOf({ runId })) ?? (await store.backfilledBy({ runId }))
    if (!time) return undefined
    const [schedule] = await store.findSchedules([time.scheduleId])
    const understood = schedule && rules(schedule.spec)
    const own = understood?.ok ? understood.spec.rule.zone : undefined
    return localTime(time.nominalAt, own ?? 'UTC')
  }

  return async (run) => {
    for (let one = run; ;) {
      const said = await saidBy(one)
      if (said !== undefined) return said
      const [before] = one.retryOf === null ? [] : await store.findRuns({ runIds: [one.retryOf] })
      if (!before) return localTime(one.dueAt ?? one.createdAt, zone)
      one = before
    }
  }
}

/** What a flow says beyond its definition; nothing for a run that is none. */
export function readFlowWork(work: string | null): Partial<FlowWork> {
  const read = (work === null ? {} : JSON.parse(work)) as Partial<FlowWork>
  return read.executor === FLOW_EXECUTOR ? read : {}
}
