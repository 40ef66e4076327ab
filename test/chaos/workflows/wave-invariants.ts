import type { WorkflowHistory } from './workflow-invariants.ts'

type History = Pick<WorkflowHistory, 'workflowRuns' | 'lines' | 'workflows'>

/** Waves of a job are numbered without gaps; waves of a gated job do not overlap. */
export function waveInvariants(history: History): string[] {
  return [...waveNumberInvariants(history), ...waveOverlapInvariants(history)]
}

function waveNumberInvariants({ workflowRuns }: History): string[] {
  const waves = new Map(workflowRuns.map(({ workflow, wave }) => [workflow, wave]))
  return [...Map.groupBy(workflowRuns, ({ job }) => job)].flatMap(([job, own]) => {
    const isNew = ({ retryOf }: (typeof own)[number]) => retryOf === null || !waves.has(retryOf)
    const numbers = own.filter(isNew).map(({ wave }) => wave)
    const isCounted = numbers.toSorted((a, b) => a - b).every((wave, nth) => wave === nth + 1)
    const strays = own.filter(
      (workflow) => !isNew(workflow) && workflow.wave !== waves.get(workflow.retryOf ?? ''),
    )
    return [
      ...(isCounted ? [] : [`the waves of ${job} are ${numbers.join(', ')}`]),
      ...strays.map(
        ({ workflow, wave, retryOf }) => `${workflow} repeats ${retryOf} as wave ${wave}`,
      ),
    ]
  })
}

/** Once a process of a wave has begun, earlier waves are over and may write no further line. */
function waveOverlapInvariants({ workflowRuns, lines, workflows }: History): string[] {
  const jobs = new Map(workflowRuns.map(({ workflow, job }) => [workflow, job]))
  const current = new Map<string, string>()
  const endedWaves = new Set<string>()
  return lines.flatMap(({ what, run, place }) => {
    const job = place && jobs.get(place.workflow)
    if (!job || !workflows.get(job)?.isGated) return []
    if (endedWaves.has(place.workflow))
      return [`${run} of ${place.workflow} wrote "${what}" after its wave`]
    const before = current.get(job)
    if (before !== undefined && before !== place.workflow) endedWaves.add(before)
    current.set(job, place.workflow)
    return []
  })
}
