import type { ScheduleInput } from '../../src/server/admin/schedule-input.ts'
import type { RuleSource } from '../../src/core/schedule/index.ts'
import type { SchedulerNode } from '../../src/server/node/start-node.ts'
import type { InMemoryScheduler } from './scheduler-in-memory.ts'

export const SCHEDULE_CALLER = { project: 'default', actor: null, request: null, address: null }
export const SCHEDULE_JOB = 'tidy'

export function putSchedule(
  node: SchedulerNode,
  rule: RuleSource,
  { name = 'rule', ...input }: Partial<ScheduleInput> & { name?: string } = {},
) {
  return node.admin.schedules.put(SCHEDULE_CALLER, SCHEDULE_JOB, name, { rule, ...input })
}

/** Outcomes of its due times: `12 fired` is the twelfth second since the start. */
export async function occurrenceLines(
  { node, clock }: InMemoryScheduler,
  name = 'rule',
): Promise<string[]> {
  const schedule = await node.admin.schedules.find('default', SCHEDULE_JOB, name)
  const range = { from: 0, until: clock.now(), limit: 1_000 }
  const records = await node.admin.schedules.occurrences(schedule, range)
  return records.map(({ nominalAt, untilAt, outcome, reason }) => {
    const second = (at: number) => Math.floor((at - Date.UTC(2026, 0, 1)) / 1_000)
    const time =
      nominalAt === untilAt ? second(nominalAt) : `${second(nominalAt)}-${second(untilAt)}`
    return reason === null ? `${time} ${outcome}` : `${time} ${outcome} ${reason}`
  })
}
