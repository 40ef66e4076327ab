import { PunctualError } from '../../core/errors.ts'
import type { JobDefinition } from '../../core/job/job-definition.ts'
import { findJobCircle, INSIDE_ITSELF, jobsRunBy, type RunsJob } from '../../core/job/job-cycle.ts'
import type { JobStore } from '../../store/port.ts'

/**
 * Throws if a job would run inside itself, through the steps of others. Two that close a circle at the same moment
 * may both get by; what they run is refused when it is to begin inside itself.
 */
export async function refuseInsideItself(
  projectId: number | null,
  name: string,
  definition: JobDefinition,
  store: Pick<JobStore, 'findDefinition'>,
): Promise<void> {
  const own = jobsRunBy(definition)
  const runsOf = new Map<string, readonly RunsJob[]>()
  const open = own.map(({ job }) => job)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === name || runsOf.has(next)) continue
    const found = projectId === null ? null : await store.findDefinition({ projectId, name: next })
    const runs = found ? jobsRunBy(JSON.parse(found.definition) as JobDefinition) : []
    runsOf.set(next, runs)
    for (const { job } of runs) open.push(job)
  }
  const circle = findJobCircle(name, own, runsOf)
  if (!circle) return
  const { field, message } = circle
  throw new PunctualError('invalid_workflow', message, { field, hint: INSIDE_ITSELF })
}
