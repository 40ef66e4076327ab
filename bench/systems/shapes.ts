import type { Submission } from '../../src/core/protocol.ts'

/**
 * What the runs of a load ask for. `plain`: nothing. `placed`: each one of twenty queues and one of
 * ten labels. `gated`: each one of fifty concurrency keys.
 */
export type Shape = 'plain' | 'placed' | 'gated'

export const QUEUES = Array.from({ length: 20 }, (_, index) => `queue-${index}`)
export const LABELS = Array.from({ length: 10 }, (_, index) => `zone-${index}`)
const KEYS = Array.from({ length: 50 }, (_, index) => `customer-${index}`)
/** More than fall on a key while the loop is full, on average: most pass at once, some have to wait. */
const PER_KEY = 100

/** Submissions of a job, all shapes in turn. */
export function createSubmissions(job: string, shape: Shape): (count: number) => Submission[] {
  const models = modelsOf(shape).map((model) => ({ job, ...model }))
  let next = 0
  return (count) =>
    Array.from({ length: count }, () => {
      next = (next + 1) % models.length
      return models[next] as Submission
    })
}

function modelsOf(shape: Shape): Omit<Submission, 'job'>[] {
  switch (shape) {
    case 'plain':
      return [{}]
    case 'placed':
      return QUEUES.flatMap((queue) =>
        LABELS.map((label) => ({ queue, runsOn: { labels: { [label]: 'yes' } } })),
      )
    case 'gated':
      return KEYS.map((key) => ({ concurrency: [{ key, limit: PER_KEY }] }))
  }
}

/** What a worker offers to serve runs of all shapes. */
export const ABLE = {
  queues: ['default', ...QUEUES],
  labels: Object.fromEntries(LABELS.map((label) => [label, 'yes'])),
}
