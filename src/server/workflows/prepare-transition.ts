import type { Decision } from '../../core/workflow/progress/decision.ts'
import { WHOLE_STEP } from '../../core/workflow/progress/step-facts.ts'
import { PunctualError } from '../../core/errors.ts'
import type {
  AuditEntry,
  WorkflowOutcome,
  WorkflowTransition,
  WorkflowStore,
  NewRun,
  StepKey,
  StepMark,
} from '../../store/port.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { keepInputs } from '../payloads/keep-inputs.ts'
import type { DraftEach } from '../runs/draft-each.ts'
import { type StepStart, beginStep, cannotBegin } from './begin-step.ts'
import { endWorkflow } from './end-workflow.ts'
import { waitsForItself } from './find-ancestors.ts'
import { type LoadedWorkflow, applyMark, EMPTY_MARK } from './loaded-workflow.ts'
import type { LoadDeps } from './load-workflows.ts'
import { type StepOutputs, readOutputs, tooMuch } from './step-outputs.ts'

/**
 * By then the node that makes a long transition in several pieces has continued it, or has ended.
 */
const RESUME_MS = 1_000
/** When the runs of a stopped workflow are asked to stop again. */
export const STOP_REMINDER_MS = 5_000

export interface TransitionDeps {
  readonly store: Pick<WorkflowStore, 'resultsOf'>
  readonly payloads: Payloads
  readonly draftEach: DraftEach
  readonly catalog: LoadDeps['catalog']
  storeNow(): number
}

/** A user's decision about a step, already applied to the workflow in memory. */
export interface StepDecision {
  readonly mark: StepMark
  readonly audit: AuditEntry | undefined
}

export interface PreparedTransition {
  readonly move: WorkflowTransition
  /** More can be done at once. */
  readonly isMore: boolean
  /** Called after the transition is written. */
  settle(): Promise<void>
}

/**
 * Computes the next transition of a workflow and applies it in memory. A caller that cannot write
 * it must discard the workflow and read it again.
 */
export async function prepareTransition(
  loaded: LoadedWorkflow,
  asked: StepDecision | null,
  limit: number,
  deps: TransitionDeps,
): Promise<PreparedTransition> {
  const signals = takeSignals(loaded)
  const written: Written = { starts: [], marks: [], settles: [], end: null }
  const remaining = () => limit - written.starts.length - written.marks.length
  const now = deps.storeNow()
  if (asked) written.marks.push(asked.mark)
  expire(loaded, now, written)
  stopIfDue(loaded, now)
  written.marks.push(...loaded.reusedMarks.slice(0, limit))
  loaded.reusedMarks = loaded.reusedMarks.slice(limit)
  // Reused states are written before anything starts, or those steps would run again.
  while (loaded.reusedMarks.length === 0 && remaining() > 0) {
    const decisions = loaded.progress.next(remaining())
    if (decisions.length === 0) break
    await applyDecisions(loaded, decisions, written, deps)
  }
  const isMore = !written.end && (loaded.reusedMarks.length > 0 || remaining() <= 0)
  const checkAt = nextCheck(loaded, now, isMore)
  loaded.checkAt = checkAt
  const { record, revision } = loaded
  const { starts, marks, end } = written
  const audit = asked?.audit && { audit: asked.audit }
  return {
    move: {
      runId: record.runId,
      revision,
      processed: signals,
      starts,
      marks,
      checkAt,
      end,
      ...audit,
    },
    isMore,
    async settle() {
      for (const settle of written.settles) await settle()
    },
  }
}

const NOTHING: StepOutputs = new Map()

interface Written {
  readonly starts: (StepKey & { readonly run: NewRun })[]
  readonly marks: StepMark[]
  readonly settles: (() => Promise<void>)[]
  end: WorkflowOutcome | null
}

function takeSignals(loaded: LoadedWorkflow): readonly StepKey[] {
  const signals = loaded.inbox
  loaded.inbox = []
  for (const one of signals)
    applyMark(loaded, { ...EMPTY_MARK, ...one, runId: loaded.runs.runOf(one) })
  return signals.map(({ step, item }) => ({ step, item }))
}

/** Fails approvals that were not given in time. */
function expire(loaded: LoadedWorkflow, now: number, { marks }: Written): void {
  for (const [step, dueAt] of loaded.approvals) {
    if (dueAt === null || dueAt > now) continue
    const mark = {
      ...EMPTY_MARK,
      step,
      item: WHOLE_STEP,
      state: 'failed',
      reason: 'expired',
    } as const
    applyMark(loaded, mark)
    marks.push(mark)
  }
}

/**
 * The first reason stays: cleanup after a cancel may take longer than the time limit of the
 * workflow.
 */
function stopIfDue(loaded: LoadedWorkflow, now: number): void {
  const isLate = loaded.deadline !== null && now >= loaded.deadline
  loaded.stop ??= loaded.record.cancelling ? 'cancelled' : isLate ? 'timeout' : null
  if (loaded.stop) loaded.progress.stop(loaded.stop)
}

async function applyDecisions(
  loaded: LoadedWorkflow,
  decisions: readonly Decision[],
  written: Written,
  deps: TransitionDeps,
): Promise<void> {
  const toStart: StepKey[] = []
  for (const decision of decisions) {
    if (decision.to === 'end') {
      const { end, settle } = await endWorkflow(loaded, decision, deps)
      written.end = end
      if (settle) written.settles.push(settle)
    } else if (decision.to === 'start') toStart.push(decision)
    else written.marks.push(noted(loaded, decision))
  }
  if (toStart.length > 0) await startSteps(loaded, toStart, written, deps)
}

/** The decision itself settles the step; the progress of the workflow already includes it. */
function noted(
  loaded: LoadedWorkflow,
  decision: Extract<Decision, { to: 'skip' | 'close' }>,
): StepMark {
  const { step } = decision
  const unfinished = loaded.unfinished.get(step)
  const mark = {
    ...EMPTY_MARK,
    step,
    item: WHOLE_STEP,
    count: loaded.runs.countOf(step),
    // A retry may reuse it with the same list.
    detail: unfinished ? JSON.stringify(unfinished) : null,
  }
  const made: StepMark =
    decision.to === 'skip'
      ? { ...mark, state: 'skipped', reason: decision.reason }
      : { ...mark, state: decision.state }
  applyMark(loaded, made)
  return made
}

async function startSteps(
  loaded: LoadedWorkflow,
  keys: readonly StepKey[],
  { starts, marks, settles }: Written,
  deps: TransitionDeps,
): Promise<void> {
  const asked = await beginSteps(loaded, keys, deps)
  const runs = asked.flatMap(({ key, beginning }) =>
    'submission' in beginning ? [{ key, submission: beginning.submission }] : [],
  )
  const drafts = await deps.draftEach(
    runs.map(({ submission }) => submission),
    loaded.project,
    loaded.record.createdBy,
  )
  const kept = await keepInputs(drafts, deps.payloads)
  for (const { beginning } of asked) {
    if ('submission' in beginning) continue
    applyMark(loaded, beginning)
    marks.push(beginning)
  }
  for (const [index, { key }] of runs.entries()) {
    const { step, item } = key
    const one = kept[index] as (typeof kept)[number]
    const isMade = !(one instanceof PunctualError)
    // Its input cannot be stored now. The transition is dropped and made again later.
    if (!isMade && one.isPassing) throw one
    const problem = isMade ? waitsForItself(one.run.gates, loaded.ancestors, deps.catalog) : one
    if (!isMade || problem) {
      const mark = cannotBegin(key, 'submission', problem as PunctualError)
      applyMark(loaded, mark)
      marks.push(mark)
      continue
    }
    if (one.settle) settles.push(one.settle)
    applyMark(loaded, { ...EMPTY_MARK, step, item, state: 'running', runId: one.run.id })
    starts.push({ step, item, run: one.run })
  }
}

interface BegunRuns {
  readonly key: StepKey
  readonly beginning: StepStart
}

/** Begins steps together as long as the outputs they need fit into memory together. */
async function beginSteps(
  loaded: LoadedWorkflow,
  keys: readonly StepKey[],
  deps: TransitionDeps,
): Promise<BegunRuns[]> {
  const wanted = new Set(
    keys.flatMap(({ step, item }) =>
      loaded.compiled.outputsFor(step, item !== WHOLE_STEP && loaded.lists.has(step)),
    ),
  )
  const outputs = wanted.size > 0 ? await readOutputs(loaded, wanted, deps) : NOTHING
  if (outputs) {
    const now = deps.storeNow()
    return keys.map((key) => ({ key, beginning: beginStep(loaded, key, outputs, now) }))
  }
  const steps = [...new Set(keys.map(({ step }) => step))]
  if (steps.length === 1) {
    return keys.map((key) => ({ key, beginning: cannotBegin(key, 'expression', tooMuch()) }))
  }
  const half = new Set(steps.slice(0, Math.ceil(steps.length / 2)))
  const [some, others] = [true, false].map((isIn) =>
    keys.filter(({ step }) => half.has(step) === isIn),
  ) as [StepKey[], StepKey[]]
  return [...(await beginSteps(loaded, some, deps)), ...(await beginSteps(loaded, others, deps))]
}

function nextCheck(loaded: LoadedWorkflow, now: number, isMore: boolean): number | null {
  const dues = [...loaded.approvals.values()].filter((dueAt) => dueAt !== null)
  if (isMore) dues.push(now + RESUME_MS)
  if (loaded.stop) dues.push(now + STOP_REMINDER_MS)
  else if (loaded.deadline !== null) dues.push(loaded.deadline)
  return dues.length === 0 ? null : dues.reduce((first, due) => Math.min(first, due))
}
