import { parsePublicId } from '../../src/core/ids.ts'
import type { WorkerClient } from '../../src/core/wire/protocol.ts'
import { createWorker, type Worker } from '../../src/worker/index.ts'
import type { Handler } from '../../src/worker/attempts/handler.ts'
import type { Seeded } from './seeded.ts'
import type { GroundTruth } from './ground-truth.ts'
import type { Actor, VirtualTime } from './virtual-time.ts'

/** A running attempt that waits for the simulation to end it. */
export interface RunningHandler {
  readonly runId: number
  readonly fence: number
  succeed(): void
  fail(): void
}

/** Slots, and queues in order of preference. */
export interface WorkerOffer {
  readonly slots: number
  readonly queues: readonly string[]
}

export interface SimWorker {
  readonly actor: Actor
  readonly worker: Worker
  readonly offer: WorkerOffer
  readonly running: Map<string, RunningHandler>
  /** Attempts that were running when the worker froze: an overlap with them is allowed. */
  frozenSinceStart: Set<string>
}

const KINDS = ['plain', 'retrying', 'once', 'timed'] as const
/** Several names of each kind, so that a restarted node meets names it has to load again. */
export const SIM_JOBS = KINDS.flatMap((kind) => [1, 2, 3].map((n) => `${kind}-${n}`))

export function jobKindOf(job: string): (typeof KINDS)[number] {
  return job.split('-')[0] as (typeof KINDS)[number]
}

/** The real worker, with handlers that start and end when the simulation says so. */
export function startSimWorker(options: {
  name: string
  actor: Actor
  client: WorkerClient
  time: VirtualTime
  seeded: Seeded
  truth: GroundTruth
  slots: number
  queues: readonly string[]
  isAutomatic: () => boolean
  others: () => readonly SimWorker[]
}): SimWorker {
  const { actor, time, seeded, truth } = options
  const running = new Map<string, RunningHandler>()

  const handler: Handler = (_input, { runId: run, fence, signal }) =>
    new Promise((resolve, reject) => {
      const runId = parsePublicId('run', run) as number
      const key = `${runId}/${fence}`
      truth.starts.push({ runId, fence, worker: options.name, atMs: time.nowMs })
      reportOverlap(runId, fence)
      const end = (action: () => void) => {
        running.delete(key)
        self.frozenSinceStart.delete(key)
        action()
      }
      running.set(key, {
        runId,
        fence,
        succeed: () => end(() => resolve({ fence })),
        fail: () => end(() => reject(new Error('it did not work'))),
      })
      signal.addEventListener('abort', () => end(() => reject(signal.reason as Error)))
      if (options.isAutomatic()) time.after(actor, 5, () => running.get(key)?.succeed())
    })

  const reportOverlap = (runId: number, fence: number) => {
    for (const other of options.others()) {
      if (!other.actor.isAlive) continue
      for (const [key, attempt] of other.running) {
        if (attempt.runId !== runId || other.frozenSinceStart.has(key)) continue
        const detail = `run ${runId} started with fence ${fence} while ${other.actor.name} runs ${attempt.fence}`
        truth.violate('I8 two attempts at once', detail)
      }
    }
  }

  const self: SimWorker = {
    actor,
    running,
    frozenSinceStart: new Set(),
    offer: { queues: options.queues, slots: options.slots },
    worker: createWorker({
      client: options.client,
      name: options.name,
      handlers: Object.fromEntries(SIM_JOBS.map((job) => [job, handler])),
      slots: options.slots,
      queues: options.queues,
      clock: time.clockOf(actor),
      random: seeded.random,
    }),
  }
  self.worker.start().catch(() => {})
  return self
}
