import { PunctualError } from '../errors.ts'
import type { AfterScope, RunScope } from '../expression/evaluate.ts'
import type { Json, Template } from '../expression/expression.ts'
import { fill } from '../expression/fill-template.ts'
import { readTemplate } from '../expression/read-template.ts'
import type { Wanted } from '../run/needs.ts'
import { acceptInput } from './accept-input.ts'
import type { TriggerInput } from './definition.ts'
import { ONLY_RUN } from './parameters.ts'
import type { Parameter } from './workflow.ts'

/** A job whose ends start runs of this one. */
export interface Followed {
  /** Its name; `etl/load` is a step of a workflow. */
  readonly job: string
  readonly wants: Wanted
  /** What the runs are given; null for nothing. */
  readonly input: Template | null
  /** Where it stands, such as `triggers.0`. */
  readonly at: string
}

/** The jobs that a job follows. Throws what is wrong with any of its triggers. */
export function readTriggers(
  triggers: readonly TriggerInput[],
  { job, parameters }: { readonly job: string; readonly parameters: readonly Parameter[] },
): readonly Followed[] {
  const followed = new Map<string, Followed>()
  for (const [nth, trigger] of triggers.entries()) {
    const at = `triggers.${nth}`
    checkShape(trigger, at)
    if (trigger.after === undefined) continue
    const one = readAfter(trigger, trigger.after, job, at)
    checkInput(one, parameters, job)
    if (followed.has(one.job)) {
      const hint = 'One trigger is enough: `on: any` stands for every way to end.'
      throw wrong(`${at}.after`, `another trigger is after ${one.job} already`, hint)
    }
    followed.set(one.job, one)
  }
  return [...followed.values()]
}

/** The input of a run that follows another; throws where an expression has no value. */
export function inputAfter(
  { input }: Followed,
  run: RunScope,
  after: AfterScope,
): Json | undefined {
  const step = () => ({ state: '', output: null })
  return input === null ? undefined : fill(input, { input: null, run, step, after })
}

/** The job whose runs bring this one about: of a step, its workflow. */
export function causeOf(followed: string): string {
  return followed.split('/', 1)[0] as string
}

function checkShape({ after, on, input, webhook }: TriggerInput, at: string): void {
  if (after === undefined && webhook === undefined) {
    throw wrong(`${at}.after`, 'is missing: say after, a job, or webhook, a name')
  }
  if (webhook === undefined) return
  if (after !== undefined) throw wrong(`${at}.webhook`, 'cannot stand beside after', APART)
  // A call brings its own input.
  const stray = on === undefined ? (input === undefined ? undefined : 'input') : 'on'
  if (stray !== undefined) throw wrong(`${at}.${stray}`, 'belongs to after, not to webhook', APART)
}

const APART = 'Make two triggers of it: each is one item of the list.'

function readAfter(
  { on = 'ok', input }: TriggerInput,
  after: string,
  job: string,
  at: string,
): Followed {
  if (causeOf(after) === job) {
    const what = after === job ? 'itself' : 'a step of its own'
    throw wrong(`${at}.after`, `${job} would run after ${what}, for ever`, NO_END)
  }
  const names = { ...ONLY_RUN, hasAfter: true }
  const template = input === undefined ? null : readTemplate(input, names, `${at}.input`)
  return { job: after, wants: on, input: template, at }
}

export const NO_END =
  'For work that goes round and round, use a schedule: `every: 0s after finish`.'

/** What no run of the job could be given is told to whoever writes it, as far as it is known. */
function checkInput({ input, at }: Followed, parameters: readonly Parameter[], job: string): void {
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
          const parameter = parameters.find((one) => one.name === name)
          return [name, item.kind === 'constant' ? item.value : fitting(parameter)]
        }),
      )
    case 'list':
      return []
    case 'text':
    case 'expression':
      return ''
  }
}

/** A value that the parameter takes, for one that is not known yet. */
function fitting(parameter: Parameter | undefined): Json {
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

function wrong(field: string, what: string, hint?: string): PunctualError {
  return new PunctualError('invalid_trigger', `${field} ${what}`, { field, ...(hint && { hint }) })
}
