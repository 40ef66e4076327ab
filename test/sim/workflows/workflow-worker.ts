import { parsePublicId } from '../../../src/core/ids.ts'
import type { Working } from '../../../src/core/wire/protocol.ts'
import type { Handler } from '../../../src/worker/attempts/handler.ts'
import { createWorker } from '../../../src/worker/index.ts'
import type { Seeded } from '../seeded.ts'
import type { Actor, VirtualTime } from '../virtual-time.ts'
import { type StepWork, TASK } from './draw-workflow.ts'
import type { FlowTruth } from './workflow-truth.ts'

/** An attempt that waits for the simulation to say how it goes. */
export interface FlowAttempt {
  readonly runId: number
  readonly work: StepWork | null
  readonly startedMs: number
  /** It was under way when its worker froze: whatever it meets is nobody's fault. */
  isExcused: boolean
  succeed(): void
  fail(): void
}

export interface FlowWorker {
  readonly actor: Actor
  readonly running: Map<string, FlowAttempt>
}

/** The real worker; what it does begins and ends on record, and ends when the simulation says so. */
export function startFlowWorker(options: {
  name: string
  actor: Actor
  client: Working
  time: VirtualTime
  seeded: Seeded
  truth: FlowTruth
  everybody: readonly FlowWorker[]
}): FlowWorker {
  const { name, actor, client, time, seeded, truth, everybody } = options
  const running = new Map<string, FlowAttempt>()

  const handler: Handler = (input, { runId: run, fence, signal }) =>
    new Promise((resolve, reject) => {
      const runId = parsePublicId('run', run) as number
      const key = `${runId}/${fence}`
      const work = (input ?? null) as StepWork | null
      truth.starts.push({ n: truth.next(), runId, fence, work, meets: underWay(everybody) })
      const end = (record: Map<number, number> | null, action: () => void) => {
        if (!running.delete(key)) return
        record?.set(runId, truth.next())
        action()
      }
      running.set(key, {
        ...{ runId, work, startedMs: time.nowMs, isExcused: false },
        succeed: () => end(truth.done, () => resolve(resultOf(work))),
        fail: () => end(truth.failed, () => reject(new Error('it did not work'))),
      })
      signal.addEventListener('abort', () => end(null, () => reject(signal.reason as Error)))
    })

  const worker = createWorker({
    ...{ client, name, slots: seeded.between(2, 5), queues: ['default'] },
    handlers: { [TASK]: handler },
    clock: time.clockOf(actor),
    random: seeded.random,
  })
  worker.start().catch(() => {})
  return { actor, running }
}

function underWay(everybody: readonly FlowWorker[]): StepWork[] {
  return everybody
    .filter(({ actor }) => actor.isAlive)
    .flatMap(({ running }) => [...running.values()])
    .flatMap(({ work, isExcused }) => (work && !isExcused ? [work] : []))
}

function resultOf(work: StepWork | null): unknown {
  return work === null ? null : Array.from({ length: work.gives }, (_, item) => item)
}
