import type { WorkflowHistory } from './workflow-invariants.ts'

type History = Pick<WorkflowHistory, 'flows' | 'lines' | 'workflows'>

/** Waves of a job are counted without gaps; of one that lets them pass one at a time, none meets another. */
export function waveLaws(history: History): string[] {
  return [...countLaws(history), ...overlapLaws(history)]
}

function countLaws({ flows }: History): string[] {
  const waves = new Map(flows.map(({ flow, wave }) => [flow, wave]))
  return [...Map.groupBy(flows, ({ job }) => job)].flatMap(([job, own]) => {
    const isNew = ({ retryOf }: (typeof own)[number]) => retryOf === null || !waves.has(retryOf)
    const numbers = own.filter(isNew).map(({ wave }) => wave)
    const isCounted = numbers.toSorted((a, b) => a - b).every((wave, nth) => wave === nth + 1)
    const strays = own.filter((flow) => !isNew(flow) && flow.wave !== waves.get(flow.retryOf ?? ''))
    return [
      ...(isCounted ? [] : [`the waves of ${job} are ${numbers.join(', ')}`]),
      ...strays.map(({ flow, wave, retryOf }) => `${flow} repeats ${retryOf} as wave ${wave}`),
    ]
  })
}

/** Once a process of a wave has begun, nothing may be heard of another, which is over. */
function overlapLaws({ flows, lines, workflows }: History): string[] {
  const jobs = new Map(flows.map(({ flow, job }) => [flow, job]))
  const current = new Map<string, string>()
  const over = new Set<string>()
  return lines.flatMap(({ what, run, place }) => {
    const job = place && jobs.get(place.flow)
    if (!job || !workflows.get(job)?.isGated) return []
    if (over.has(place.flow)) return [`${run} of ${place.flow} said "${what}" after its wave`]
    const before = current.get(job)
    if (before !== undefined && before !== place.flow) over.add(before)
    current.set(job, place.flow)
    return []
  })
}
