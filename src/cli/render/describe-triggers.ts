import type { JobDefinition } from '../../core/job/job-definition.ts'

/** What starts runs of a job besides schedules and people, each to follow "runs". */
export function describeTriggers({ triggers = [] }: JobDefinition): string[] {
  return triggers.map(({ after, on = 'ok', webhook }) =>
    after === undefined ? `when ${webhook} is called` : `after ${after}${ENDS[on]}`,
  )
}

const ENDS = {
  ok: '',
  notok: ' if that does not succeed',
  any: ' however that ends',
} as const

/** Whether other jobs trigger it. */
export function runsAfterOthers({ triggers = [] }: JobDefinition): boolean {
  return triggers.some(({ after }) => after !== undefined)
}
