import type { JobDefinition } from '../../core/job/job-definition.ts'

/** What starts runs of a job besides its schedules and people, each to follow "runs". */
export function whatStarts({ triggers = [] }: JobDefinition): string[] {
  return triggers.map(({ after, on = 'ok', webhook }) =>
    after === undefined ? `when ${webhook} is called` : `after ${after}${ENDS[on]}`,
  )
}

const ENDS = {
  ok: '',
  notok: ' if that does not succeed',
  any: ' however that ends',
} as const

/** Whether it runs after others. */
export function followsOthers({ triggers = [] }: JobDefinition): boolean {
  return triggers.some(({ after }) => after !== undefined)
}
