import { evaluate, isTrue, type Scope } from '../../core/expression/evaluate.ts'
import type { Json, Template } from '../../core/expression/expression.ts'
import { expressionsIn } from '../../core/expression/references.ts'
import { fill } from '../../core/expression/fill-template.ts'
import { asText } from '../../core/expression/functions.ts'
import { PunctualError } from '../../core/errors.ts'
import { isSettled, type StepReason, WHOLE } from '../../core/workflow/step-facts.ts'
import type { StepState } from '../../core/run/step-state.ts'
import { publicId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import { storable } from '../../core/text/storable.ts'
import { resolveWork } from '../../core/workflow/resolve-work.ts'
import type { Approval, Step } from '../../core/workflow/workflow.ts'
import type { StepKey, StepMark } from '../../store/port.ts'
import { readFlowWork } from '../runs/retries/scheduled-time.ts'
import { type HeldFlow, PLAIN, type Unfinished } from './loaded-workflow.ts'
import type { Outputs } from './step-outputs.ts'

/** What a step that may start becomes: a run, or something to be written down about it. */
export type Beginning = StepMark | { readonly submission: Submission }

/** Evaluates what people wrote for it. What has no value makes the step fail, and nothing else. */
export function beginStep(held: HeldFlow, key: StepKey, outputs: Outputs, now: number): Beginning {
  try {
    return begin(held, key, outputs, now)
  } catch (error) {
    // Nothing is asked of anybody here: what went wrong goes wrong again.
    return cannotBegin(key, 'expression', error as Error)
  }
}

export function cannotBegin(
  { step, item }: StepKey,
  reason: StepReason,
  { message }: Error,
): StepMark {
  return { ...PLAIN, step, item, state: 'failed', reason, message: storable(message) }
}

function begin(held: HeldFlow, { step, item }: StepKey, outputs: Outputs, now: number): Beginning {
  const written = held.compiled.workflow.steps[step] as Step
  const { condition, each, does } = written
  const scope = scopeOf(held, outputs)
  if (does.kind === 'job' && held.around.jobs.has(does.job)) {
    return cannotBegin({ step, item }, 'submission', isAround(does.job))
  }
  if (item !== WHOLE) {
    // Whoever goes on with a flow finds the same list in the same outputs.
    const then = () => scopeOf(held, outputs, held.unfinished.get(step))
    const list = held.lists.get(step) ?? listOf(written, then())
    held.lists.set(step, list)
    return runOf(held, written, { ...scope, item: list[item] ?? null, index: item })
  }
  const mark = { ...PLAIN, step, item }
  if (condition && !isTrue(evaluate(condition, scope), condition.field)) {
    return { ...mark, state: 'skipped', reason: 'condition' }
  }
  if (each) {
    const list = listOf(written, scope)
    held.lists.set(step, list)
    return { ...mark, state: 'running', count: list.length, detail: noteUnfinished(held, each) }
  }
  if (does.kind === 'approve') return { ...mark, ...waitFor(does.approval, scope, now) }
  return runOf(held, written, scope)
}

function runOf({ job, record }: HeldFlow, { name, does }: Step, scope: Scope): Beginning {
  if (does.kind === 'approve') throw new TypeError('an approval has no run')
  const submission = resolveWork(
    does.work,
    scope,
    does.kind === 'job' ? does.job : `${job}/${name}`,
  )
  const priority = submission.priority ?? -record.rank
  // Another job is run for the same time, if somebody said for which.
  const scheduledAt = does.kind === 'job' ? readFlowWork(record.work).scheduled_at : undefined
  return {
    submission: {
      ...submission,
      ...(priority === 0 ? {} : { priority }),
      ...(scheduledAt === undefined ? {} : { scheduledAt }),
    },
  }
}

/**
 * With a rule that does not wait for all of them, a step may begin while others that its list speaks of are
 * under way. They will have ended when the list is made again; this tells how it was made.
 */
function noteUnfinished({ compiled, runs }: HeldFlow, each: Template): string | null {
  const names = new Set(expressionsIn(each).flatMap(({ steps }) => steps))
  const unfinished: [string, StepState][] = []
  for (const name of names) {
    const state = runs.stateOf(compiled.indexOf.get(name) as number) ?? 'waiting'
    if (!isSettled(state)) unfinished.push([name, state])
  }
  return unfinished.length === 0 ? null : JSON.stringify(Object.fromEntries(unfinished))
}

/** What expressions can see: of a step that is not over, or was not then, only how it stands. */
export function scopeOf(
  { compiled, record, job, project, input, scheduledAt, runs }: HeldFlow,
  outputs: Outputs,
  unfinished: Unfinished = {},
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
        // Only who asks for what is lost cannot go on.
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

function isAround(job: string): PunctualError {
  const message = `${job} is under way around this step, and cannot run inside itself`
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
