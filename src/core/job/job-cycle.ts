import type { JobDefinition } from './job-definition.ts'
import { showCircle } from '../workflow/step-cycle.ts'
import type { StepInput } from '../workflow/definition.ts'
import { findFollowCircle } from '../workflow/trigger-cycle.ts'

/** A step that runs another job, and where that is said. */
export interface RunsJob {
  readonly job: string
  /** Such as `steps.load.job`. */
  readonly field: string
}

export const INSIDE_ITSELF =
  'Break the circle: a workflow cannot run inside itself, not even through others.'

/** The jobs that steps of a definition run. */
export function jobsRunBy({ steps = [] }: Pick<JobDefinition, 'steps'>): RunsJob[] {
  const found: RunsJob[] = []
  const said = steps as Readonly<Record<string, StepInput>>
  for (const place of Object.keys(said)) {
    const job = said[place]?.job
    if (job !== undefined) found.push({ job, field: `steps.${place}.job` })
  }
  return found
}

/**
 * What is wrong with the steps of a job, if it would run inside itself: the place, the sentence, and the jobs
 * from one to the next. `runsOf` knows what steps of others run.
 */
export function findJobCircle(
  name: string,
  runs: readonly RunsJob[],
  runsOf: ReadonlyMap<string, readonly RunsJob[]>,
): { field: string; message: string; path: readonly string[] } | undefined {
  const edges = Array.from(runsOf, ([job, own]) => own.map((ran) => ({ job, cause: ran.job })))
  const causes = runs.map(({ job }) => job)
  const path = findFollowCircle(name, causes, edges.flat())?.toReversed()
  if (!path) return undefined
  const field = runs.find(({ job }) => job === path[1])?.field ?? 'steps'
  const way = showCircle([...path.keys()], (nth) => path[nth] ?? '')
  return { field, path, message: `${field}: these jobs would run inside themselves: ${way}` }
}
