import type { ScheduleInput } from '../../src/server/admin/schedule-input.ts'
import type { RuleSource } from '../../src/core/schedule/index.ts'
import type { SchedulerNode } from '../../src/server/node/start-node.ts'
import type { InMemory } from './scheduler-in-memory.ts'

export const BY = { project: 'default', actor: null, request: null, address: null }
export const JOB = 'tidy'

export function put(
  node: SchedulerNode,
  rule: RuleSource,
  { name = 'rule', ...input }: Partial<ScheduleInput> & { name?: string } = {},
) {
  return node.admin.schedules.put(BY, JOB, name, { rule, ...input })
}

/** What became of its times: `12 fired` is the twelfth second since it began. */
export async function story({ node, clock }: InMemory, name = 'rule'): Promise<string[]> {
  const schedule = await node.admin.schedules.find('default', JOB, name)
  const range = { from: 0, until: clock.now(), limit: 1_000 }
  const records = await node.admin.schedules.occurrences(schedule, range)
  return records.map(({ nominalAt, untilAt, outcome, reason }) => {
    const second = (at: number) => Math.floor((at - Date.UTC(2026, 0, 1)) / 1_000)
    const time =
      nominalAt === untilAt ? second(nominalAt) : `${second(nominalAt)}-${second(untilAt)}`
    return reason === null ? `${time} ${outcome}` : `${time} ${outcome} ${reason}`
  })
}
