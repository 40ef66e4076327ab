import type { Submission } from '../../src/client/index.ts'
import type { Seeded } from '../sim/seeded.ts'
import type { Traits } from './history.ts'

/** Two jobs, so that there are two lanes to be dealt from. */
export const JOBS = ['steady', 'shaky'] as const

/** What a handler is asked to do. */
export interface Work {
  readonly key: string
  readonly lastMs: number
  /** Attempts up to this one fail. */
  readonly failFirst: number
}

export type Flavour = 'plain' | 'shaky' | 'delayed' | 'gated' | 'once' | 'long' | 'invalid'

const WEIGHTS: Record<Flavour, number> = {
  plain: 44,
  shaky: 15,
  delayed: 12,
  gated: 12,
  once: 8,
  long: 6,
  invalid: 3,
}
const GATES = [
  { key: 'narrow', limit: 1 },
  { key: 'wide', limit: 3 },
] as const
/** How many lost attempts a run survives; the product's own bound. */
const LOST_MAX = 3
const RETRY = { max: 3, backoff: 'fixed', delayMs: 60 } as const

export interface Order {
  readonly key: string
  readonly flavour: Flavour
  readonly submission: Submission
  readonly traits: Traits
}

/** The next submission; `now` and `nowNs` are the same instant on two clocks. */
export function drawOrder(seeded: Seeded, key: string, now: number, nowNs: number): Order {
  const flavour = seeded.weighted(WEIGHTS)
  const work: Work = { key, lastMs: seeded.between(0, 50), failFirst: 0 }
  const order = (submission: Partial<Submission>, traits: Traits = {}): Order => ({
    key,
    flavour,
    traits: { mostStarts: 1 + LOST_MAX + (submission.retry ? RETRY.max : 0), ...traits },
    submission: {
      job: 'steady',
      input: work,
      idempotencyKey: key,
      priority: seeded.between(0, 2),
      ...submission,
    },
  })
  switch (flavour) {
    case 'plain':
      return order({})
    case 'shaky':
      return order({
        job: 'shaky',
        input: { ...work, failFirst: seeded.between(1, 4) },
        retry: RETRY,
      })
    case 'delayed': {
      const delayMs = seeded.between(50, 2_000)
      return order({ runAt: now + delayMs }, { dueNs: nowNs + delayMs * 1e6 })
    }
    case 'gated': {
      const gate = seeded.pick(GATES)
      return order({ concurrency: [gate], retry: RETRY }, { gate: gate.key, limit: gate.limit })
    }
    case 'once':
      return order(
        { onLost: 'fail', input: { ...work, lastMs: seeded.between(100, 400) } },
        { atMostOnce: true },
      )
    case 'long':
      // Longer than a server is away: whoever gives the run to another too early makes it run twice.
      return order({ input: { ...work, lastMs: seeded.between(200, 2_500) } })
    case 'invalid':
      return order({ priority: 99 })
  }
}
