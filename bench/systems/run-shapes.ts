import type { Submission } from '../../src/core/wire/protocol.ts'

/**
 * What the runs of a load require. `plain`: nothing. `placed`: each one of twenty queues and one of
 * ten labels. `gated`: each one of fifty concurrency keys whose limit admits nearly all of them at once;
 * `crowded`: the same keys with a lower limit, so that many runs wait for others.
 */
export type RunShape = 'plain' | 'placed' | 'gated' | 'crowded'

export const QUEUES = Array.from({ length: 20 }, (_, index) => `queue-${index}`)
export const LABELS = Array.from({ length: 10 }, (_, index) => `zone-${index}`)
const KEYS = Array.from({ length: 50 }, (_, index) => `customer-${index}`)
/**
 * The closed loop keeps 4,096 runs submitted and not handled, and the ends of one or two thousand more are not
 * stored yet: 100 to 120 runs per key. Measured on SQLite, a limit of 100 makes a third of the runs wait.
 */
const PER_KEY = { gated: 128, crowded: 100 } as const

/** Creates submissions of a job that cycle through all queues, labels or keys of the shape. */
export function createSubmissions(job: string, shape: RunShape): (count: number) => Submission[] {
  const models = modelsOf(shape).map((model) => ({ job, ...model }))
  let next = 0
  return (count) =>
    Array.from({ length: count }, () => {
      next = (next + 1) % models.length
      return models[next] as Submission
    })
}

function modelsOf(shape: RunShape): Omit<Submission, 'job'>[] {
  switch (shape) {
    case 'plain':
      return [{}]
    case 'placed':
      return QUEUES.flatMap((queue) =>
        LABELS.map((label) => ({ queue, runsOn: { labels: { [label]: 'yes' } } })),
      )
    case 'gated':
    case 'crowded':
      return KEYS.map((key) => ({ concurrency: [{ key, limit: PER_KEY[shape] }] }))
  }
}

/** The queues and labels a worker needs to serve runs of all shapes. */
export const WORKER_OFFER = {
  queues: ['default', ...QUEUES],
  labels: Object.fromEntries(LABELS.map((label) => [label, 'yes'])),
}
