import type { Decision } from '../../core/workflow/decision.ts'
import { WHOLE } from '../../core/workflow/step-facts.ts'
import { PunctualError } from '../../core/errors.ts'
import type {
  AuditEntry,
  FlowEnd,
  FlowMove,
  FlowStore,
  NewRun,
  StepKey,
  StepMark,
} from '../../store/port.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { keepInputs } from '../runs/submit-large.ts'
import type { DraftEach } from '../runs/draft-each.ts'
import { type Beginning, beginStep, cannotBegin } from './begin-step.ts'
import { endFlow } from './end-workflow.ts'
import { waitsForItself } from './find-ancestors.ts'
import { type HeldFlow, learn, PLAIN } from './loaded-workflow.ts'
import type { LoadDeps } from './load-workflows.ts'
import { type Outputs, readOutputs, tooMuch } from './step-outputs.ts'

/** By then whoever makes a long move in several pieces has gone on with it, or is gone. */
const GO_ON_MS = 1_000
/** How soon what a stopped flow does not want any more is told so again. */
export const REMIND_MS = 5_000

export interface MoveDeps {
  readonly store: Pick<FlowStore, 'resultsOf'>
  readonly payloads: Payloads
  readonly draftEach: DraftEach
  readonly catalog: LoadDeps['catalog']
  storeNow(): number
}

/** What somebody decided about a step. The flow knows it already. */
export interface Asked {
  readonly mark: StepMark
  readonly audit: AuditEntry | undefined
}

export interface MadeMove {
  readonly move: FlowMove
  /** There is more to be done at once. */
  readonly isMore: boolean
  /** To be called once it is written. */
  settle(): Promise<void>
}

/**
 * Thinks out what is to be done next in a flow, and has it known to the flow as if it were done: who
 * cannot write it down forgets the flow and reads it again.
 */
export async function makeMove(
  held: HeldFlow,
  asked: Asked | null,
  limit: number,
  deps: MoveDeps,
): Promise<MadeMove> {
  const heard = hearNews(held)
  const written: Written = { starts: [], marks: [], settles: [], end: null }
  const room = () => limit - written.starts.length - written.marks.length
  const now = deps.storeNow()
  if (asked) written.marks.push(asked.mark)
  expire(held, now, written)
  stopIfDue(held, now)
  written.marks.push(...held.toTakeOver.slice(0, limit))
  held.toTakeOver = held.toTakeOver.slice(limit)
  // What is taken over is written down before anything starts, or it would start again.
  while (held.toTakeOver.length === 0 && room() > 0) {
    const decisions = held.progress.next(room())
    if (decisions.length === 0) break
    await carryOut(held, decisions, written, deps)
  }
  const isMore = !written.end && (held.toTakeOver.length > 0 || room() <= 0)
  const lookAt = nextLook(held, now, isMore)
  held.lookAt = lookAt
  const { record, revision } = held
  const { starts, marks, end } = written
  const audit = asked?.audit && { audit: asked.audit }
  return {
    move: { ...{ runId: record.runId, revision, heard, starts, marks, lookAt, end }, ...audit },
    isMore,
    async settle() {
      for (const settle of written.settles) await settle()
    },
  }
}

const NOTHING: Outputs = new Map()

interface Written {
  readonly starts: (StepKey & { readonly run: NewRun })[]
  readonly marks: StepMark[]
  readonly settles: (() => Promise<void>)[]
  end: FlowEnd | null
}

function hearNews(held: HeldFlow): readonly StepKey[] {
  const news = held.inbox
  held.inbox = []
  for (const one of news) learn(held, { ...PLAIN, ...one, runId: held.runs.runOf(one) })
  return news.map(({ step, item }) => ({ step, item }))
}

/** Approvals nobody gave in time. */
function expire(held: HeldFlow, now: number, { marks }: Written): void {
  for (const [step, dueAt] of held.approvals) {
    if (dueAt === null || dueAt > now) continue
    const mark = { ...PLAIN, step, item: WHOLE, state: 'failed', reason: 'expired' } as const
    learn(held, mark)
    marks.push(mark)
  }
}

/** The first reason stays: what clears up after a cancel may take longer than the flow had. */
function stopIfDue(held: HeldFlow, now: number): void {
  const isLate = held.deadline !== null && now >= held.deadline
  held.stop ??= held.record.cancelling ? 'cancelled' : isLate ? 'timeout' : null
  if (held.stop) held.progress.stop(held.stop)
}

async function carryOut(
  held: HeldFlow,
  decisions: readonly Decision[],
  written: Written,
  deps: MoveDeps,
): Promise<void> {
  const toStart: StepKey[] = []
  for (const decision of decisions) {
    if (decision.to === 'end') {
      const { end, settle } = await endFlow(held, decision, deps)
      written.end = end
      if (settle) written.settles.push(settle)
    } else if (decision.to === 'start') toStart.push(decision)
    else written.marks.push(noted(held, decision))
  }
  if (toStart.length > 0) await startSteps(held, toStart, written, deps)
}

/** Settled by having been decided: the flow's progress knows already. */
function noted(held: HeldFlow, decision: Extract<Decision, { to: 'skip' | 'close' }>): StepMark {
  const { step } = decision
  const unfinished = held.unfinished.get(step)
  const mark = {
    ...{ ...PLAIN, step, item: WHOLE, count: held.runs.countOf(step) },
    // A retry may take it up again, with the same list.
    detail: unfinished ? JSON.stringify(unfinished) : null,
  }
  const made: StepMark =
    decision.to === 'skip'
      ? { ...mark, state: 'skipped', reason: decision.reason }
      : { ...mark, state: decision.state }
  learn(held, made)
  return made
}

async function startSteps(
  held: HeldFlow,
  keys: readonly StepKey[],
  { starts, marks, settles }: Written,
  deps: MoveDeps,
): Promise<void> {
  const asked = await beginSteps(held, keys, deps)
  const runs = asked.flatMap(({ key, beginning }) =>
    'submission' in beginning ? [{ key, submission: beginning.submission }] : [],
  )
  const drafts = await deps.draftEach(
    runs.map(({ submission }) => submission),
    held.project,
    held.record.createdBy,
  )
  const kept = await keepInputs(drafts, deps.payloads)
  for (const { beginning } of asked) {
    if ('submission' in beginning) continue
    learn(held, beginning)
    marks.push(beginning)
  }
  for (const [index, { key }] of runs.entries()) {
    const { step, item } = key
    const one = kept[index] as (typeof kept)[number]
    const isMade = !(one instanceof PunctualError)
    // There is no place for its input now. Nothing of this move happens, and it is made again.
    if (!isMade && one.isPassing) throw one
    const problem = isMade ? waitsForItself(one.run.gates, held.around, deps.catalog) : one
    if (!isMade || problem) {
      const mark = cannotBegin(key, 'submission', problem as PunctualError)
      learn(held, mark)
      marks.push(mark)
      continue
    }
    if (one.settle) settles.push(one.settle)
    learn(held, { ...PLAIN, step, item, state: 'running', runId: one.run.id })
    starts.push({ step, item, run: one.run })
  }
}

interface Begun {
  readonly key: StepKey
  readonly beginning: Beginning
}

/** All together, as long as the outputs they need may be in memory together. */
async function beginSteps(
  held: HeldFlow,
  keys: readonly StepKey[],
  deps: MoveDeps,
): Promise<Begun[]> {
  const wanted = new Set(
    keys.flatMap(({ step, item }) =>
      held.compiled.outputsFor(step, item !== WHOLE && held.lists.has(step)),
    ),
  )
  const outputs = wanted.size > 0 ? await readOutputs(held, wanted, deps) : NOTHING
  if (outputs) {
    const now = deps.storeNow()
    return keys.map((key) => ({ key, beginning: beginStep(held, key, outputs, now) }))
  }
  const steps = [...new Set(keys.map(({ step }) => step))]
  if (steps.length === 1) {
    return keys.map((key) => ({ key, beginning: cannotBegin(key, 'expression', tooMuch()) }))
  }
  const half = new Set(steps.slice(0, Math.ceil(steps.length / 2)))
  const [some, others] = [true, false].map((isIn) =>
    keys.filter(({ step }) => half.has(step) === isIn),
  ) as [StepKey[], StepKey[]]
  return [...(await beginSteps(held, some, deps)), ...(await beginSteps(held, others, deps))]
}

function nextLook(held: HeldFlow, now: number, isMore: boolean): number | null {
  const dues = [...held.approvals.values()].filter((dueAt) => dueAt !== null)
  if (isMore) dues.push(now + GO_ON_MS)
  if (held.stop) dues.push(now + REMIND_MS)
  else if (held.deadline !== null) dues.push(held.deadline)
  return dues.length === 0 ? null : dues.reduce((first, due) => Math.min(first, due))
}
