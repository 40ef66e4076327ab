import type { Submission } from '../../src/client/index.ts'
import type { Seeded } from '../sim/seeded.ts'
import type { Traits } from './history.ts'

/** Two jobs, so that there are two lanes to allocate from. */
export const WORKLOAD_JOBS = ['steady', 'shaky'] as const

/** What a handler is asked to do. */
export interface HandlerInput {
  readonly key: string
  readonly lastMs: number
  /** Attempts up to this one fail. */
  readonly failFirst: number
}

export type SubmissionKind = 'plain' | 'shaky' | 'delayed' | 'gated' | 'once' | 'long' | 'invalid'

const WEIGHTS: Record<SubmissionKind, number> = {
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
/** How many lost attempts a run survives; the same value as in the product. */
const LOST_MAX = 3
const RETRY = { max: 3, backoff: 'fixed', delayMs: 60 } as const

export interface PlannedSubmission {
  readonly key: string
  readonly kind: SubmissionKind
  readonly submission: Submission
  readonly traits: Traits
}

/** The next submission; `now` and `nowNs` are the same instant on two clocks. */
export function drawSubmission(
  seeded: Seeded,
  key: string,
  now: number,
  nowNs: number,
): PlannedSubmission {
  const kind = seeded.weighted(WEIGHTS)
  const work: HandlerInput = { key, lastMs: seeded.between(0, 50), failFirst: 0 }
  const planned = (submission: Partial<Submission>, traits: Traits = {}): PlannedSubmission => ({
    key,
    kind,
    traits: { maxStarts: 1 + LOST_MAX + (submission.retry ? RETRY.max : 0), ...traits },
    submission: {
      job: 'steady',
      input: work,
      idempotencyKey: key,
      priority: seeded.between(0, 2),
      ...submission,
    },
  })
  switch (kind) {
    case 'plain':
      return planned({})
    case 'shaky':
      return planned({
        job: 'shaky',
        input: { ...work, failFirst: seeded.between(1, 4) },
        retry: RETRY,
      })
    case 'delayed': {
      const delayMs = seeded.between(50, 2_000)
      return planned({ runAt: now + delayMs }, { dueNs: nowNs + delayMs * 1e6 })
    }
    case 'gated': {
      const gate = seeded.pick(GATES)
      return planned({ concurrency: [gate], retry: RETRY }, { gate: gate.key, limit: gate.limit })
    }
    case 'once':
      return planned(
        { onLost: 'fail', input: { ...work, lastMs: seeded.between(100, 400) } },
        { atMostOnce: true },
      )
    case 'long':
      // Longer than a server is down: a server that grants the run again too early makes it run twice.
      return planned({ input: { ...work, lastMs: seeded.between(200, 2_500) } })
    case 'invalid':
      return planned({ priority: 99 })
  }
}
