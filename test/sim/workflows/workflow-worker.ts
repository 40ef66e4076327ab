import { parsePublicId } from '../../../src/core/ids.ts'
import type { WorkerClient } from '../../../src/core/wire/protocol.ts'
import type { Handler } from '../../../src/worker/attempts/handler.ts'
import { createWorker } from '../../../src/worker/index.ts'
import type { Seeded } from '../seeded.ts'
import type { Actor, VirtualTime } from '../virtual-time.ts'
import { type DrawnStepInput, TASK } from './draw-workflow.ts'
import type { WorkflowTruth } from './workflow-truth.ts'

/** An attempt that waits for the simulation to end it. */
export interface WorkflowAttempt {
  readonly runId: number
  readonly work: DrawnStepInput | null
  readonly startedMs: number
  /** It was running when its worker froze: overlaps with it are allowed. */
  isExcused: boolean
  succeed(): void
  fail(): void
}

export interface WorkflowSimWorker {
  readonly actor: Actor
  readonly running: Map<string, WorkflowAttempt>
}

/** The real worker; starts and ends are recorded, and the simulation decides when an attempt ends. */
export function startWorkflowWorker(options: {
  name: string
  actor: Actor
  client: WorkerClient
  time: VirtualTime
  seeded: Seeded
  truth: WorkflowTruth
  allWorkers: readonly WorkflowSimWorker[]
}): WorkflowSimWorker {
  const { name, actor, client, time, seeded, truth, allWorkers } = options
  const running = new Map<string, WorkflowAttempt>()

  const handler: Handler = (input, { runId: run, fence, signal }) =>
    new Promise((resolve, reject) => {
      const runId = parsePublicId('run', run) as number
      const key = `${runId}/${fence}`
      const work = (input ?? null) as DrawnStepInput | null
      truth.starts.push({ n: truth.next(), runId, fence, work, meets: runningSteps(allWorkers) })
      const end = (record: Map<number, number> | null, action: () => void) => {
        if (!running.delete(key)) return
        record?.set(runId, truth.next())
        action()
      }
      running.set(key, {
        runId,
        work,
        startedMs: time.nowMs,
        isExcused: false,
        succeed: () => end(truth.done, () => resolve(resultOf(work))),
        fail: () => end(truth.failed, () => reject(new Error('it did not work'))),
      })
      signal.addEventListener('abort', () => end(null, () => reject(signal.reason as Error)))
    })

  const worker = createWorker({
    client,
    name,
    slots: seeded.between(2, 5),
    queues: ['default'],
    handlers: { [TASK]: handler },
    clock: time.clockOf(actor),
    random: seeded.random,
  })
  worker.start().catch(() => {})
  return { actor, running }
}

function runningSteps(allWorkers: readonly WorkflowSimWorker[]): DrawnStepInput[] {
  return allWorkers
    .filter(({ actor }) => actor.isAlive)
    .flatMap(({ running }) => [...running.values()])
    .flatMap(({ work, isExcused }) => (work && !isExcused ? [work] : []))
}

function resultOf(work: DrawnStepInput | null): unknown {
  return work === null ? null : Array.from({ length: work.gives }, (_, item) => item)
}
