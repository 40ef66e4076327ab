import { PunctualError } from '../../errors.ts'
import type { AfterScope, RunScope } from '../../expression/evaluate.ts'
import type { Json, Template } from '../../expression/expression.ts'
import { fill } from '../../expression/fill-template.ts'
import { readTemplate } from '../../expression/read-template.ts'
import type { WantedOutcome } from '../../run/needs.ts'
import { acceptInput } from '../parameters/accept-input.ts'
import type { TriggerInput } from '../definition.ts'
import { RUN_FACTS_ONLY } from '../parameters/parameters.ts'
import type { Parameter } from '../workflow.ts'

/** A job whose ended runs trigger runs of this job. */
export interface TriggerSource {
  /** The name of the job; `etl/load` is a step of a workflow. */
  readonly job: string
  readonly outcome: WantedOutcome
  /** The input of the triggered runs; null for none. */
  readonly input: Template | null
  /** The field, such as `triggers.0`. */
  readonly at: string
}

/** The jobs that trigger a job. Throws if any of its triggers is invalid. */
export function readTriggers(
  triggers: readonly TriggerInput[],
  { job, parameters }: { readonly job: string; readonly parameters: readonly Parameter[] },
): readonly TriggerSource[] {
  const sources = new Map<string, TriggerSource>()
  for (const [nth, trigger] of triggers.entries()) {
    const at = `triggers.${nth}`
    checkShape(trigger, at)
    if (trigger.after === undefined) continue
    const source = readAfter(trigger, trigger.after, job, at)
    checkInput(source, parameters, job)
    if (sources.has(source.job)) {
      const hint = 'One trigger is enough: `on: any` includes every way to end.'
      throw triggerError(`${at}.after`, `another trigger already runs after ${source.job}`, hint)
    }
    sources.set(source.job, source)
  }
  return [...sources.values()]
}

/** The input of a triggered run; throws if an expression has no value. */
export function triggeredInput(
  { input }: TriggerSource,
  run: RunScope,
  after: AfterScope,
): Json | undefined {
  const step = () => ({ state: '', output: null })
  return input === null ? undefined : fill(input, { input: null, run, step, after })
}

/** The job whose runs trigger this one: for a step, its workflow. */
export function sourceJobOf(sources: string): string {
  return sources.split('/', 1)[0] as string
}

function checkShape({ after, on, input, webhook }: TriggerInput, at: string): void {
  if (after === undefined && webhook === undefined) {
    throw triggerError(`${at}.after`, 'is missing: set after (a job) or webhook (a name)')
  }
  if (webhook === undefined) return
  if (after !== undefined)
    throw triggerError(`${at}.webhook`, 'cannot be used with after', SPLIT_HINT)
  // The caller of a webhook provides the input.
  const unexpectedField = on === undefined ? (input === undefined ? undefined : 'input') : 'on'
  if (unexpectedField !== undefined)
    throw triggerError(`${at}.${unexpectedField}`, 'belongs to after, not to webhook', SPLIT_HINT)
}

const SPLIT_HINT = 'Split it into two triggers: each is one item of the list.'

function readAfter(
  { on = 'ok', input }: TriggerInput,
  after: string,
  job: string,
  at: string,
): TriggerSource {
  if (sourceJobOf(after) === job) {
    const what = after === job ? 'itself' : 'a step of its own'
    throw triggerError(`${at}.after`, `${job} would run after ${what}, forever`, TRIGGER_CYCLE_HINT)
  }
  const names = { ...RUN_FACTS_ONLY, hasAfter: true }
  const template = input === undefined ? null : readTemplate(input, names, `${at}.input`)
  return { job: after, outcome: on, input: template, at }
}

export const TRIGGER_CYCLE_HINT =
  'For work that repeats forever, use a schedule: `every: 0s after finish`.'

/** Rejects an input that no run of the job could accept, as far as it is known. */
function checkInput(
  { input, at }: TriggerSource,
  parameters: readonly Parameter[],
  job: string,
): void {
  if (parameters.length === 0 || input?.kind === 'expression') return
  const run = { job, project: '', scheduledAt: '1970-01-01T00:00:00Z' }
  acceptInput(parameters, input ? sampleOf(input, parameters) : undefined, run, `${at}.input`)
}

function sampleOf(template: Template, parameters: readonly Parameter[]): Json {
  switch (template.kind) {
    case 'constant':
      return template.value
    case 'object':
      return Object.fromEntries(
        template.entries.map(([name, item]) => {
          const parameter = parameters.find((source) => source.name === name)
          return [name, item.kind === 'constant' ? item.value : sampleValue(parameter)]
        }),
      )
    case 'list':
      return []
    case 'text':
    case 'expression':
      return ''
  }
}

/** A valid value of the parameter, in place of one that is not known yet. */
function sampleValue(parameter: Parameter | undefined): Json {
  if (!parameter) return null
  const { type, format, enum: among } = parameter
  if (among) return among[0] as Json
  if (format !== undefined) return format === 'date' ? '1970-01-01' : '1970-01-01T00:00:00Z'
  return SAMPLES[type]
}

const SAMPLES = {
  string: '',
  number: 0,
  integer: 0,
  boolean: false,
  array: [],
  object: {},
} as const satisfies Record<Parameter['type'], Json>

function triggerError(field: string, what: string, hint?: string): PunctualError {
  return new PunctualError('invalid_trigger', `${field} ${what}`, { field, ...(hint && { hint }) })
}
