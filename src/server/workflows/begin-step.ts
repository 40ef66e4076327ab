import { evaluate, isTrue, type Scope } from '../../core/expression/evaluate.ts'
import type { Json, Template } from '../../core/expression/expression.ts'
import { expressionsIn } from '../../core/expression/references.ts'
import { fill } from '../../core/expression/fill-template.ts'
import { asText } from '../../core/expression/functions.ts'
import { PunctualError } from '../../core/errors.ts'
import { isSettled, type StepReason, WHOLE_STEP } from '../../core/workflow/progress/step-facts.ts'
import type { StepState } from '../../core/run/step-state.ts'
import { publicId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import { storable } from '../../core/text/storable.ts'
import { resolveWork } from '../../core/workflow/work/resolve-work.ts'
import type { Approval, Step } from '../../core/workflow/workflow.ts'
import type { StepKey, StepMark } from '../../store/port.ts'
import { type LoadedWorkflow, EMPTY_MARK, type UnfinishedSteps } from './loaded-workflow.ts'
import type { StepOutputs } from './step-outputs.ts'
import { readWorkflowWork } from './workflow-work.ts'

/** What a ready step becomes: a run, or a mark in the workflow. */
export type StepStart = StepMark | { readonly submission: Submission }

/**
 * Evaluates the expressions of the step. One without a value makes the step fail, and nothing else.
 */
export function beginStep(
  loaded: LoadedWorkflow,
  key: StepKey,
  outputs: StepOutputs,
  now: number,
): StepStart {
  try {
    return begin(loaded, key, outputs, now)
  } catch (error) {
    // Nothing outside is involved: the same error would happen again.
    return cannotBegin(key, 'expression', error as Error)
  }
}

export function cannotBegin(
  { step, item }: StepKey,
  reason: StepReason,
  { message }: Error,
): StepMark {
  return { ...EMPTY_MARK, step, item, state: 'failed', reason, message: storable(message) }
}

function begin(
  loaded: LoadedWorkflow,
  { step, item }: StepKey,
  outputs: StepOutputs,
  now: number,
): StepStart {
  const written = loaded.compiled.workflow.steps[step] as Step
  const { condition, each, does } = written
  const scope = scopeOf(loaded, outputs)
  if (does.kind === 'job' && loaded.ancestors.jobs.has(does.job)) {
    return cannotBegin({ step, item }, 'submission', wouldNest(does.job))
  }
  if (item !== WHOLE_STEP) {
    // Every node finds the same list in the same outputs.
    const then = () => scopeOf(loaded, outputs, loaded.unfinished.get(step))
    const list = loaded.lists.get(step) ?? listOf(written, then())
    loaded.lists.set(step, list)
    return runOf(loaded, written, { ...scope, item: list[item] ?? null, index: item })
  }
  const mark = { ...EMPTY_MARK, step, item }
  if (condition && !isTrue(evaluate(condition, scope), condition.field)) {
    return { ...mark, state: 'skipped', reason: 'condition' }
  }
  if (each) {
    const list = listOf(written, scope)
    loaded.lists.set(step, list)
    return { ...mark, state: 'running', count: list.length, detail: noteUnfinished(loaded, each) }
  }
  if (does.kind === 'approve') return { ...mark, ...waitFor(does.approval, scope, now) }
  return runOf(loaded, written, scope)
}

function runOf({ job, record }: LoadedWorkflow, { name, does }: Step, scope: Scope): StepStart {
  if (does.kind === 'approve') throw new TypeError('an approval has no run')
  const submission = resolveWork(
    does.work,
    scope,
    does.kind === 'job' ? does.job : `${job}/${name}`,
  )
  const priority = submission.priority ?? -record.rank
  // The other job runs for the same time, if the caller named one.
  const scheduledAt = does.kind === 'job' ? readWorkflowWork(record.work).scheduled_at : undefined
  return {
    submission: {
      ...submission,
      ...(priority === 0 ? {} : { priority }),
      ...(scheduledAt === undefined ? {} : { scheduledAt }),
    },
  }
}

/**
 * With a rule that does not wait for all needs, a step may begin while steps that its list refers
 * to are running. They will have ended when the list is computed again, so their state at the
 * beginning is recorded.
 */
function noteUnfinished({ compiled, runs }: LoadedWorkflow, each: Template): string | null {
  const names = new Set(expressionsIn(each).flatMap(({ steps }) => steps))
  const unfinished: [string, StepState][] = []
  for (const name of names) {
    const state = runs.stateOf(compiled.indexOf.get(name) as number) ?? 'waiting'
    if (!isSettled(state)) unfinished.push([name, state])
  }
  return unfinished.length === 0 ? null : JSON.stringify(Object.fromEntries(unfinished))
}

/**
 * What expressions can see: for a step that has not ended, or had not at that time, only its state.
 */
export function scopeOf(
  { compiled, record, job, project, input, scheduledAt, runs }: LoadedWorkflow,
  outputs: StepOutputs,
  unfinished: UnfinishedSteps = {},
): Scope {
  return {
    input,
    run: { id: publicId('run', record.runId), job, project, wave: record.wave, scheduledAt },
    step(name) {
      const index = compiled.indexOf.get(name) as number
      const then = Object.hasOwn(unfinished, name) ? unfinished[name] : undefined
      const state = then ?? runs.stateOf(index) ?? 'waiting'
      return {
        state,
        // A lost output is an error only for an expression that uses it.
        get output() {
          const output = isSettled(state) ? (outputs.get(index) ?? null) : null
          if (output instanceof PunctualError) throw output
          return output
        },
      }
    },
  }
}

function listOf({ name, each }: Step, scope: Scope): readonly Json[] {
  const field = `steps.${name}.each`
  const value = each && fill(each, scope)
  if (!Array.isArray(value)) throw notAList(field, 'it should be a list, and is none')
  if (value.length <= LIMITS.steps) return value as readonly Json[]
  throw notAList(field, `it has ${value.length} items; at most ${LIMITS.steps} are allowed`)
}

function wouldNest(job: string): PunctualError {
  const message = `${job} already contains this step and cannot run inside itself`
  return new PunctualError('invalid_workflow', message)
}

function notAList(field: string, what: string): PunctualError {
  return new PunctualError('invalid_field', `${field}: ${what}`, { field })
}

function waitFor(
  { message, timeoutMs }: Approval,
  scope: Scope,
  now: number,
): Pick<StepMark, 'state' | 'message' | 'dueAt'> {
  return {
    state: 'waiting',
    message: message && storable(asText(fill(message, scope))),
    dueAt: timeoutMs === null ? null : now + timeoutMs,
  }
}
