import { createWorker, type Worker } from '../../src/worker/index.ts'
import { openScheduler } from '../../src/main/scheduler.ts'
import { STEP_TASK } from '../load/workflows.ts'

const TOKEN = 'bench'.repeat(8)
const SLOTS = 10_000
const DRAIN_MS = 10_000
const POLL_MS = 2

export interface WorkflowSystem {
  define(job: string, definition: object): Promise<void>
  /** Starts `runs` runs of the job; resolves with their states once all have ended. */
  runWorkflows(job: string, runs: number): Promise<readonly string[]>
  close(): Promise<void>
}

/** Scheduler and worker in one process; job definitions are sent over HTTP. */
export async function openWorkflowPunctual(
  store: string,
  onStep: { started(): void; ended(): void },
): Promise<WorkflowSystem> {
  const onError = (error: unknown) => console.error(error)
  const scheduler = await openScheduler({ store, rootToken: TOKEN, onError })
  const address = await scheduler.listen({ host: '127.0.0.1', port: 0 })
  const client = scheduler.clientFor('default')
  const worker: Worker = createWorker({
    client,
    name: 'bench',
    slots: SLOTS,
    processes: {},
    handlers: {
      [STEP_TASK]() {
        onStep.started()
        onStep.ended()
      },
    },
    onError,
  })
  await worker.start()

  return {
    async define(job, definition) {
      const answer = await fetch(`${address}/v1/jobs/${job}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(definition),
      })
      if (!answer.ok) throw new Error(`${job}: ${answer.status} ${await answer.text()}`)
    },
    async runWorkflows(job, runs) {
      const submitted = await client.submit(Array.from({ length: runs }, () => ({ job })))
      const states: string[] = []
      for (const { id } of submitted) {
        let { state } = await client.getRun(id)
        while (!ENDED.has(state)) {
          await new Promise((resolve) => setTimeout(resolve, POLL_MS))
          ;({ state } = await client.getRun(id))
        }
        states.push(state)
      }
      return states
    },
    async close() {
      await worker.drain(DRAIN_MS)
      await scheduler.stop()
    },
  }
}

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'skipped'])
