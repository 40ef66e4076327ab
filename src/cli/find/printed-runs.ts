import type { WireStep, WireStepItem } from '../../core/workflow/views/step-views.ts'
import { LIMITS } from '../../core/limits.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import { everyPage } from './every-page.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { stepPath } from './find-step.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** A run with output of its own: not a workflow, but the runs of its steps. */
export interface PrintedRun {
  readonly id: string
  /**
   * `load`, `load[2]` for an item, `load/check` for a step of a nested workflow. Empty for the run
   * itself.
   */
  readonly title: string
}

/**
 * The runs that contain the output of a run: for a workflow, the runs of its steps in the order
 * they started, including nested workflows. Steps that have not started are left out.
 */
export async function* printedRuns(
  calls: ServerCalls,
  run: Pick<WireRun, 'id' | 'workflow'>,
  step?: string,
): AsyncGenerator<PrintedRun> {
  if (!run.workflow) {
    if (step !== undefined) throw noSteps(run.id)
    yield { id: run.id, title: '' }
    return
  }
  yield* runsOfSteps(calls, run.id, { step, prefix: '' })
}

async function* runsOfSteps(
  calls: ServerCalls,
  id: string,
  { step, prefix }: { step: string | undefined; prefix: string },
): AsyncGenerator<PrintedRun> {
  const wanted = step === undefined ? undefined : readStepText(step)
  for (const one of await startedSteps(calls, id, wanted?.name)) {
    const title = `${prefix}${one.name}`
    if (one.items !== null) yield* runsOfItems(calls, id, { step: one, title, item: wanted?.item })
    else if (wanted?.item !== undefined) throw noItem(id, wanted.item, one.name)
    else if (one.run !== null) yield* runsOfRun(calls, { id: one.run.id, title }, one)
  }
}

/** A step by its name, or one item of it as titles have it: `load[2]`. */
export function readStepText(text: string): { readonly name: string; readonly item?: number } {
  const [, name, item] = /^(.+)\[(\d{1,9})\]$/.exec(text) ?? []
  return name === undefined ? { name: text } : { name, item: Number(item) }
}

async function startedSteps(
  calls: ServerCalls,
  id: string,
  step: string | undefined,
): Promise<readonly WireStep[]> {
  if (step !== undefined) return [await calls.call<WireStep>('GET', stepPath(id, step))]
  const steps = await everyPage<WireStep>(calls, `/v1/runs/${id}/steps?`, LIMITS.steps)
  return steps
    .filter(({ started_at }) => started_at !== null)
    .toSorted((a, b) => Date.parse(a.started_at ?? '') - Date.parse(b.started_at ?? ''))
}

async function* runsOfItems(
  calls: ServerCalls,
  id: string,
  {
    step,
    title,
    item: wanted,
  }: { readonly step: WireStep; readonly title: string; readonly item: number | undefined },
): AsyncGenerator<PrintedRun> {
  const items = await everyPage<WireStepItem>(
    calls,
    `${stepPath(id, step.name)}/items?`,
    LIMITS.steps,
  )
  const isThere = wanted === undefined || items.some(({ item }) => item === wanted)
  if (!isThere) throw noItem(id, wanted, step.name)
  for (const { item, run } of items) {
    const isWanted = wanted === undefined || item === wanted
    if (isWanted && run !== null) {
      yield* runsOfRun(calls, { id: run.id, title: `${title}[${item}]` }, step)
    }
  }
}

/** The job of a step may be a workflow. */
async function* runsOfRun(
  calls: ServerCalls,
  printed: PrintedRun,
  { kind }: WireStep,
): AsyncGenerator<PrintedRun> {
  const isWorkflow =
    kind === 'job' && (await calls.call<WireRun>('GET', `/v1/runs/${printed.id}`)).workflow
  if (!isWorkflow) yield printed
  else yield* runsOfSteps(calls, printed.id, { step: undefined, prefix: `${printed.title}/` })
}

function noSteps(id: string): Failure {
  return new Failure(`${id} is not a workflow: it has no steps`, {
    exitCode: EXIT.usage,
    next: `punctual logs ${id}`,
  })
}

function noItem(id: string, item: number, step: string): Failure {
  return new Failure(`step ${step} of ${id} has no item ${item}`, {
    exitCode: EXIT.notFound,
    next: `punctual steps ${id} ${step}`,
  })
}
