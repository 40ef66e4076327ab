import type { Names } from '../expression/check.ts'
import type { RunScope } from '../expression/evaluate.ts'
import type { Json } from '../expression/expression.ts'
import { hasExpression } from '../expression/read-template.ts'
import { PunctualError } from '../errors.ts'
import { FLOW_EXECUTOR } from '../work/workflow-work.ts'
import type { JobDefinition } from './job-definition.ts'
import type { Submission } from '../wire/protocol.ts'
import { readSubmission, type WireSubmission } from '../wire/runs.ts'
import { acceptInput } from '../workflow/accept-input.ts'
import { gatesOf, readGates } from '../workflow/gates.ts'
import { EARLY_FACTS, kindsOf, readParameters } from '../workflow/parameters.ts'
import { throwFirst } from '../workflow/problems.ts'
import { resolveWork } from '../workflow/resolve-work.ts'
import { type Followed, readTriggers } from '../workflow/triggers.ts'
import { readWorkTemplate } from '../workflow/work-template.ts'
import type { Gate, WorkTemplate } from '../workflow/workflow.ts'

/** What a definition means for the runs of its job. */
export interface ReadJob {
  /** What they get unless they say otherwise. */
  readonly defaults: Submission
  /** What has to be worked out for each of them; null if that is nothing. */
  readonly preparation: Preparation | null
  /** The jobs whose ends start runs of it. */
  readonly follows: readonly Followed[]
}

export interface Preparation {
  /** The run executes what came of expressions, not what stands in the definition. */
  readonly makesWork: boolean
  /** Checks its input, and fills in what was written with expressions. */
  prepare(submission: Submission, run: RunScope): Submission
}

/** Throws what is wrong with everything but the steps, which `readWorkflow` reads. */
export function readJob(definition: JobDefinition, job: string): ReadJob {
  const { input, concurrency, steps, triggers = [] } = definition
  if (steps !== undefined) refuseBesideSteps(definition)
  else if (definition.output !== undefined) throw ownOutput()
  const parameters = readParameters(input, 'input', throwFirst)
  const follows = readTriggers(triggers, { job, parameters })
  const names: Names = { ...OF_JOB, input: input === undefined ? null : kindsOf(parameters) }
  // One wave at a time is what people expect of a workflow, and nobody of a command.
  const isOpen = steps === undefined && concurrency === undefined
  const gates = isOpen ? [] : readGates(concurrency, job, names, 'concurrency')
  const template = steps === undefined ? templateOf(definition, names) : null
  const { queue, priority, timeout, tags } = definition
  const wire =
    steps === undefined ? plainPart(definition, template) : { queue, priority, timeout, tags }
  const read = readSubmission({ ...wire, concurrency: keptGates(gates), job })
  const defaults: Submission =
    steps === undefined ? read : { ...read, work: { executor: FLOW_EXECUTOR } }
  const makesWork =
    template !== null && (template.holes.length > 0 || template.variables.length > 0)
  const isSimple = parameters.length === 0 && !makesWork && gates.every(isKept)
  if (isSimple) return { defaults, preparation: null, follows }
  return {
    defaults,
    follows,
    preparation: {
      makesWork,
      prepare(submission, run) {
        const accepted = acceptInput(parameters, submission.input as Json | undefined, run)
        const scope = { input: accepted, run, step: () => ({ state: '', output: null }) }
        const isOwn = submission.concurrency !== defaults.concurrency
        return {
          ...submission,
          input: input === undefined ? submission.input : accepted,
          ...(isOwn || gates.every(isKept) ? {} : { concurrency: gatesOf(gates, accepted, run) }),
          ...(makesWork && { work: resolveWork(template, scope, job).work }),
        }
      },
    },
  }
}

/** What a step does is for the step to say. */
function refuseBesideSteps(definition: JobDefinition): void {
  const strays = [
    'run',
    'argv',
    'script',
    'http',
    'container',
    'task',
    'stdin',
    'interpreter',
  ] as const
  const field = strays.find((name) => definition[name] !== undefined)
  if (field === undefined) return
  const message = `${field} cannot stand beside steps: make it a step of its own`
  throw new PunctualError('invalid_field', message, { field })
}

function ownOutput(): PunctualError {
  const message = 'output belongs to steps: what is not a workflow gives what it reports itself'
  return new PunctualError('invalid_field', message, { field: 'output' })
}

const OF_JOB: Omit<Names, 'input'> = {
  facts: EARLY_FACTS,
  hasItem: false,
  maySecrets: false,
  refuseStep: () => ({ message: 'the job has no steps that could be named' }),
}

/** What is executed, taken apart; null where no expression is, as nearly always. */
function templateOf(definition: JobDefinition, names: Names): WorkTemplate | null {
  const {
    tags: _,
    input: __,
    concurrency: ___,
    schedule: ____,
    triggers: _____,
    ...step
  } = definition
  if (!hasExpression(JSON.stringify(step))) return null
  const ownVariables = new Set(Object.keys(step.env ?? {}))
  return readWorkTemplate(step, { at: '', names, jobNames: names, ownVariables })
}

/** What is for people, for the clock or for all runs together is no part of one run. */
const NOT_OF_RUNS = [
  ...[
    'title',
    'description',
    'owner',
    'source',
    'schedule',
    'deadline',
    'expect',
    'triggers',
    'input',
    'output',
  ],
  ...['steps', 'concurrency'],
]

function plainPart(definition: JobDefinition, template: WorkTemplate | null): WireSubmission {
  const said = Object.entries(definition).filter(([name]) => !NOT_OF_RUNS.includes(name))
  return { ...Object.fromEntries(said), ...template?.sample }
}

/** Those whose key is known without an input. */
function keptGates(gates: readonly Gate[]) {
  if (gates.length === 0) return undefined
  return gates.filter(isKept).map(({ key, limit }) => ({ key: constantOf(key), limit }))
}

function isKept({ key }: Gate): boolean {
  return key.kind === 'constant'
}

function constantOf(key: Gate['key']): string {
  return key.kind === 'constant' ? (key.value as string) : ''
}
