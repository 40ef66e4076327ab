import type { JobDefinition } from './job-definition.ts'
import { describeCycle } from '../workflow/step-cycle.ts'
import type { StepInput } from '../workflow/definition.ts'
import { findTriggerCycle } from '../workflow/triggers/trigger-cycle.ts'

/** A step that runs another job, and its field. */
export interface SubJobReference {
  readonly job: string
  /** Such as `steps.load.job`. */
  readonly field: string
}

export const SELF_NESTING_HINT =
  'Break the cycle: a workflow cannot run inside itself, not even through others.'

/** The jobs that steps of a definition run. */
export function jobsRunBy({ steps = [] }: Pick<JobDefinition, 'steps'>): SubJobReference[] {
  const found: SubJobReference[] = []
  const stepMap = steps as Readonly<Record<string, StepInput>>
  for (const place of Object.keys(stepMap)) {
    const job = stepMap[place]?.job
    if (job !== undefined) found.push({ job, field: `steps.${place}.job` })
  }
  return found
}

/**
 * Finds a cycle in which the steps of a job would run the job itself: returns the field, the message and the path of
 * jobs. `runsOf` contains the sub-jobs of other jobs.
 */
export function findJobCycle(
  name: string,
  runs: readonly SubJobReference[],
  runsOf: ReadonlyMap<string, readonly SubJobReference[]>,
): { field: string; message: string; path: readonly string[] } | undefined {
  const edges = Array.from(runsOf, ([job, own]) => own.map((ran) => ({ job, cause: ran.job })))
  const causes = runs.map(({ job }) => job)
  const path = findTriggerCycle(name, causes, edges.flat())?.toReversed()
  if (!path) return undefined
  const field = runs.find(({ job }) => job === path[1])?.field ?? 'steps'
  const cycle = describeCycle([...path.keys()], (nth) => path[nth] ?? '')
  return { field, path, message: `${field}: these jobs would run inside themselves: ${cycle}` }
}
