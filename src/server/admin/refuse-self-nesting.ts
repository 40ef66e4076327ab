import { PunctualError } from '../../core/errors.ts'
import type { JobDefinition } from '../../core/job/job-definition.ts'
import {
  findJobCycle,
  SELF_NESTING_HINT,
  jobsRunBy,
  type SubJobReference,
} from '../../core/job/job-cycle.ts'
import type { JobStore } from '../../store/port.ts'

/**
 * Throws if a job would contain itself through the steps of other jobs. Two changes at the same
 * moment may still create such a cycle; the run that would be nested inside itself is then refused.
 */
export async function refuseSelfNesting(
  projectId: number | null,
  name: string,
  definition: JobDefinition,
  store: Pick<JobStore, 'findDefinition'>,
): Promise<void> {
  const own = jobsRunBy(definition)
  const runsOf = new Map<string, readonly SubJobReference[]>()
  const open = own.map(({ job }) => job)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === name || runsOf.has(next)) continue
    const found = projectId === null ? null : await store.findDefinition({ projectId, name: next })
    const runs = found ? jobsRunBy(JSON.parse(found.definition) as JobDefinition) : []
    runsOf.set(next, runs)
    for (const { job } of runs) open.push(job)
  }
  const cycle = findJobCycle(name, own, runsOf)
  if (!cycle) return
  const { field, message } = cycle
  throw new PunctualError('invalid_workflow', message, { field, hint: SELF_NESTING_HINT })
}
