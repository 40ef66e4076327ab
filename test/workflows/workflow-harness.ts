import { parsePublicId } from '../../src/core/ids.ts'
import type { JobDefinition } from '../../src/core/job/job-definition.ts'
import type {
  Assignment,
  FinishedAttempt,
  LeasedAttempt,
  SchedulerClient,
} from '../../src/core/wire/protocol.ts'
import { isFinal } from '../../src/core/run/run-state.ts'
import type { RunRecord, StepRecord } from '../../src/store/port.ts'
import { createStoreOnEngine } from '../../src/store/sqlite/store.ts'
import {
  type Given,
  type InMemoryScheduler,
  startInMemory,
} from '../integration/scheduler-in-memory.ts'
import { type ManualWorker, registerManualWorker } from '../integration/manual-worker.ts'

export const WORKFLOW_CALLER = { project: 'default', actor: null, request: null, address: null }

/** How a task behaves: its result or its end; `hold` keeps it running until the test ends it. */
export type Behaviour = (run: Assignment) => { result: unknown } | 'failed' | 'hold'

/** A node, a worker for all tasks, and one workflow called `flow`. */
export interface WorkflowHarness extends InMemoryScheduler {
  readonly client: SchedulerClient
  define(definition: JobDefinition, name?: string): Promise<void>
  submit(input?: unknown): Promise<string>
  /** Lets the worker take and run all available work once; returns whether there was any. */
  workOnce(): Promise<boolean>
  /** Repeats this until nothing happens any more. */
  work(): Promise<void>
  /** Ends the held runs as if the worker had been told to stop. */
  stopHeld(): Promise<void>
  /** Ends the held runs of a task successfully. */
  finishHeld(task: string, result: unknown): Promise<void>
  /** The run from the store, even while nodes cannot answer. */
  view(id: string): Promise<RunRecord>
  /** Works until the run has ended. */
  finish(id: string): Promise<RunRecord>
  /** State of its steps: `load succeeded`, `load.2 failed`, `mail skipped needs`. */
  steps(id: string): Promise<string[]>
  records(id: string): Promise<readonly StepRecord[]>
  /** Every start of a task, in order: its name and its input. */
  readonly started: string[]
  behave: Behaviour
}

const TASKS = ['a', 'b', 'c', 'd', 'e', 'list', 'load', 'report', 'mail', 'clean']

export async function startWorkflowHarness(given: Given = {}): Promise<WorkflowHarness> {
  const world = await startInMemory(given)
  const { node, clock, engine } = world
  const client = node.clientFor('default')
  const store = createStoreOnEngine(engine)
  const worker = await registerManualWorker(client, { jobs: TASKS, slots: 100 })
  const names = new Map<string, readonly string[]>()
  const held: HeldStep[] = []
  let definition: JobDefinition = {}

  const workflows: WorkflowHarness = {
    ...world,
    client,
    started: [],
    behave: () => ({ result: null }),
    async define(wanted, name = 'flow') {
      if (name === 'flow') definition = wanted
      await node.admin.jobs.put(WORKFLOW_CALLER, name, wanted, null)
    },
    async submit(input) {
      const [answer] = await client.submit([
        { job: 'flow', ...(input === undefined ? {} : { input }) },
      ])
      const { id } = answer as { id: string }
      names.set(id, stepNames(definition))
      return id
    },
    workOnce: () => workOnce(worker, workflows, held),
    async work() {
      for (let idle = 0; idle < 3;) {
        await clock.advance(20)
        idle = (await workflows.workOnce()) ? 0 : idle + 1
      }
    },
    async stopHeld() {
      const stopped = held.splice(0)
      await worker.report(
        stopped.map(({ run, fence }) => ({ run, fence, outcome: 'cancelled' })),
        0,
      )
    },
    async finishHeld(task, wanted) {
      const result = JSON.stringify(wanted)
      const ended = held.filter((one) => one.task === task)
      for (const one of ended) held.splice(held.indexOf(one), 1)
      await worker.report(
        ended.map(({ run, fence }) => ({ run, fence, outcome: 'succeeded', result })),
        0,
      )
    },
    async view(id) {
      const [run] = await store.findRuns({ runIds: [runIdOf(id)] })
      return run as RunRecord
    },
    async finish(id) {
      for (let turn = 0; turn < 500; turn += 1) {
        await workflows.work()
        const view = await workflows.view(id)
        if (isFinal(view.state)) return view
        await clock.advance(1_000)
      }
      throw new Error(`it never ends: ${(await workflows.steps(id)).join(', ')}`)
    },
    records: (id) => store.workflowSteps({ workflowId: runIdOf(id), after: null, limit: 10_000 }),
    async steps(id) {
      const own = names.get(id) ?? stepNames(definition)
      return (await workflows.records(id)).map(({ step, item, state, reason }) =>
        [`${own[step]}${item < 0 ? '' : `.${item}`}`, state, reason ?? ''].join(' ').trim(),
      )
    },
  }
  return workflows
}

interface HeldStep extends LeasedAttempt {
  readonly task: string | null
}

async function workOnce(
  worker: ManualWorker,
  workflows: WorkflowHarness,
  held: HeldStep[],
): Promise<boolean> {
  const runs = await worker.take()
  const done: FinishedAttempt[] = []
  for (const one of runs) {
    const { run, fence, job, task, input } = one
    workflows.started.push(`${task ?? job}${input === null ? '' : ` ${input}`}`)
    const outcome = workflows.behave(one)
    if (outcome === 'hold') held.push({ run, fence, task })
    else if (outcome === 'failed') done.push({ run, fence, outcome, cause: 'error' })
    else {
      const result = JSON.stringify(outcome.result)
      done.push({ run, fence, outcome: 'succeeded', result })
    }
  }
  if (done.length > 0) await worker.report(done, 0)
  return runs.length > 0
}

function runIdOf(id: string): number {
  return parsePublicId('run', id) as number
}

function stepNames({ steps = [] }: JobDefinition): readonly string[] {
  if (!Array.isArray(steps)) return Object.keys(steps)
  return steps.map(({ name }: { name?: string }, index: number) => name ?? `step-${index + 1}`)
}
