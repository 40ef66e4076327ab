import { PunctualError } from '../../core/errors.ts'
import type { RetryNames } from '../../core/flow/work.ts'
import type { RunState } from '../../core/run-state.ts'
import type { FlowRecord, NewRun, RunRecord, Store } from '../../store/port.ts'
import type { Catalog } from '../catalog.ts'
import { draftAgain } from '../draft-again.ts'
import { findRun } from '../find-run.ts'
import { workAgain } from '../flows/again.ts'
import { type Answer, answerApproval, skipStep } from '../flows/decide-step.ts'
import type { Flows } from '../flows/flows.ts'
import { readSteps } from '../flows/read-steps.ts'
import { type ShownFlow, showFlow } from '../flows/show-flow.ts'
import type { Compiled, WorkflowBook } from '../flows/workflow-book.ts'
import type { Payloads } from '../payloads/payloads.ts'
import type { By } from './by.ts'

/** Runs that consist of steps, as people steer and read them. */
export interface FlowControl {
  show(project: string, id: string): Promise<ShownFlow>
  /** `name` is what the token of whoever answers is called; null for the installation's own. */
  answer(
    by: By & { readonly name: string | null },
    id: string,
    step: string,
    answer: Answer,
  ): Promise<void>
  /** What has not begun counts as done from now on. */
  skip(by: By, id: string, step: string, item?: number): Promise<void>
  /** A part of a finished run again, as a new run of the same wave. */
  retry(by: By, id: string, wanted: RetryNames, key?: string): Promise<{ id: string }>
}

export interface ControlDeps {
  readonly store: Pick<Store, 'findRun' | 'findFlows' | 'flowSteps'>
  readonly catalog: Pick<Catalog, 'findProject' | 'learnNames' | 'jobName'>
  readonly book: WorkflowBook
  readonly flows: Pick<Flows, 'ask'>
  readonly payloads: Payloads
  mintId(): number
  storeNow(): number
  submit(run: NewRun): Promise<{ id: string }>
}

export function createFlowControl(deps: ControlDeps): FlowControl {
  const { store, catalog, book, flows } = deps

  const find = async (
    project: string,
    id: string,
  ): Promise<{ run: RunRecord; flow: FlowRecord; compiled: Compiled }> => {
    const run = await findRun(project, id, deps)
    const [flow] = await store.findFlows({ runIds: [run.id] })
    const { jobId, version } = run
    await catalog.learnNames([jobId], [])
    const job = catalog.jobName(jobId)
    const compiled = flow && version !== null ? await book.find({ jobId, version, job }) : null
    if (!flow || !compiled) throw new PunctualError('flow_not_found', `${id} has no steps`)
    return { run, flow, compiled }
  }

  const ask = async (by: By, id: string, request: Parameters<Flows['ask']>[1]): Promise<void> => {
    const { run } = await find(by.project, id)
    requireRunning(run.state)
    await flows.ask(run.id, request)
  }

  return {
    async show(project, id) {
      const { run, flow, compiled } = await find(project, id)
      return showFlow(flow, compiled, await readSteps(store, run.id))
    },
    answer: (by, id, step, answer) => ask(by, id, answerApproval(step, answer, by)),
    skip: (by, id, step, item) => ask(by, id, skipStep(step, item, by)),
    async retry({ project, actor }, id, wanted, key) {
      const { run, compiled } = await find(project, id)
      const work = await workAgain(run, wanted, compiled, store)
      return deps.submit(await draftAgain(run, { actor, key, work }, deps))
    },
  }
}

function requireRunning(state: RunState): void {
  if (state === 'running') return
  throw new PunctualError('run_is_final', `the run has ${state} already`)
}
