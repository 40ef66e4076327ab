import type { Submission } from '../../src/core/wire/protocol.ts'

/**
 * What the runs of a load ask for. `plain`: nothing. `placed`: each one of twenty queues and one of
 * ten labels. `gated`: each one of fifty concurrency keys with room for nearly all of them; `crowded`: the
 * same with less, so that many have to wait for others.
 */
export type Shape = 'plain' | 'placed' | 'gated' | 'crowded'

export const QUEUES = Array.from({ length: 20 }, (_, index) => `queue-${index}`)
export const LABELS = Array.from({ length: 10 }, (_, index) => `zone-${index}`)
const KEYS = Array.from({ length: 50 }, (_, index) => `customer-${index}`)
/**
 * The loop keeps 4,096 runs between submitting and handling, and a thousand or two more are on their way to
 * be ended: 100 to 120 a key. Measured on SQLite, with 100 a third has to wait.
 */
const PER_KEY = { gated: 128, crowded: 100 } as const

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
    case 'crowded':
      return KEYS.map((key) => ({ concurrency: [{ key, limit: PER_KEY[shape] }] }))
  }
}

/** What a worker offers to serve runs of all shapes. */
export const ABLE = {
  queues: ['default', ...QUEUES],
  labels: Object.fromEntries(LABELS.map((label) => [label, 'yes'])),
}
