import type { Names } from '../expression/check.ts'
import type { RunScope } from '../expression/evaluate.ts'
import type { Json } from '../expression/expression.ts'
import { createExpressionCount, mentionsExpression } from '../expression/read-template.ts'
import type { OnWarning } from '../expression/shell/shell-warnings.ts'
import { PunctualError } from '../errors.ts'
import { WORKFLOW_EXECUTOR } from '../work/workflow-work.ts'
import type { JobDefinition } from './job-definition.ts'
import type { Submission } from '../wire/protocol.ts'
import { readSubmission, type WireSubmission } from '../wire/runs.ts'
import { acceptInput } from '../workflow/parameters/accept-input.ts'
import { gatesOf, readGates } from '../workflow/reading/gates.ts'
import {
  FACTS_BEFORE_CREATION,
  kindsOf,
  readParameters,
} from '../workflow/parameters/parameters.ts'
import { throwFirst } from '../workflow/problems.ts'
import { resolveWork } from '../workflow/work/resolve-work.ts'
import { type TriggerSource, readTriggers } from '../workflow/triggers/triggers.ts'
import { readWorkTemplate } from '../workflow/work/work-template.ts'
import type { Gate, WorkTemplate } from '../workflow/workflow.ts'

/** A parsed definition, for the runs of its job. */
export interface ReadJob {
  /** The defaults of its runs. */
  readonly defaults: Submission
  /** The values to compute for each run; null if there are none. */
  readonly preparation: RunPreparation | null
  /** The jobs whose ends trigger it. */
  readonly triggerSources: readonly TriggerSource[]
}

export interface RunPreparation {
  /** Whether the run stores its own work, computed from expressions of the definition. */
  readonly makesWork: boolean
  /** Validates the input of a run, and evaluates the expressions. */
  prepare(submission: Submission, run: RunScope): Submission
}

/**
 * Throws if anything except the steps is invalid; `readWorkflow` reads those. `onWarning` receives the places where
 * values of expressions may be executed.
 */
export function readJob(definition: JobDefinition, job: string, onWarning?: OnWarning): ReadJob {
  const { input, concurrency, steps, triggers = [] } = definition
  if (steps !== undefined) refuseWorkWithSteps(definition)
  else if (definition.output !== undefined) throw ownOutput()
  const parameters = readParameters(input, 'input', throwFirst)
  const follows = readTriggers(triggers, { job, parameters })
  const names: Names = {
    ...JOB_LEVEL_NAMES,
    input: input === undefined ? null : kindsOf(parameters),
    onExpression: createExpressionCount().onExpression,
  }
  // One wave at a time is the default of a workflow, but not of a command.
  const isOpen = steps === undefined && concurrency === undefined
  const gates = isOpen ? [] : readGates(concurrency, job, names, 'concurrency')
  const template = steps === undefined ? templateOf(definition, names, onWarning) : null
  const { queue, priority, timeout, tags } = definition
  const wire =
    steps === undefined ? runPart(definition, template) : { queue, priority, timeout, tags }
  const read = readSubmission({ ...wire, concurrency: constantGates(gates), job })
  const defaults: Submission =
    steps === undefined ? read : { ...read, work: { executor: WORKFLOW_EXECUTOR } }
  const makesWork =
    template !== null && (template.placeholders.length > 0 || template.variables.length > 0)
  const isSimple = parameters.length === 0 && !makesWork && gates.every(isKept)
  if (isSimple) return { defaults, preparation: null, triggerSources: follows }
  return {
    defaults,
    triggerSources: follows,
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

/** Rejects fields of a job that belong to its steps. */
function refuseWorkWithSteps(definition: JobDefinition): void {
  const unused = [
    'run',
    'argv',
    'script',
    'http',
    'container',
    'task',
    'stdin',
    'interpreter',
  ] as const
  const field = unused.find((name) => definition[name] !== undefined)
  if (field === undefined) return
  const message = `${field} cannot be used with steps: make it a step`
  throw new PunctualError('invalid_field', message, { field })
}

function ownOutput(): PunctualError {
  const message =
    'output needs steps: the output of a job without steps is what its command reports'
  return new PunctualError('invalid_field', message, { field: 'output' })
}

const JOB_LEVEL_NAMES: Omit<Names, 'input'> = {
  facts: FACTS_BEFORE_CREATION,
  hasItem: false,
  maySecrets: false,
  refuseStep: () => ({ message: 'the job has no steps to refer to' }),
}

/** The work as a template; null in the common case without expressions. */
function templateOf(
  definition: JobDefinition,
  names: Names,
  onWarning: OnWarning | undefined,
): WorkTemplate | null {
  const {
    tags: _,
    input: __,
    concurrency: ___,
    schedule: ____,
    triggers: _____,
    ...step
  } = definition
  if (!mentionsExpression(step)) return null
  const ownVariables = new Set(Object.keys(step.env ?? {}))
  return readWorkTemplate(step, { at: '', names, jobNames: names, ownVariables, onWarning })
}

/** Fields that do not belong to one run: descriptions, schedules and settings of all runs together. */
const NON_RUN_FIELDS = [
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
  'steps',
  'concurrency',
]

function runPart(definition: JobDefinition, template: WorkTemplate | null): WireSubmission {
  const fields = Object.entries(definition).filter(([name]) => !NON_RUN_FIELDS.includes(name))
  return { ...Object.fromEntries(fields), ...template?.sample }
}

/** Gates whose key does not depend on the input. */
function constantGates(gates: readonly Gate[]) {
  if (gates.length === 0) return undefined
  return gates.filter(isKept).map(({ key, limit }) => ({ key: constantOf(key), limit }))
}

function isKept({ key }: Gate): boolean {
  return key.kind === 'constant'
}

function constantOf(key: Gate['key']): string {
  return key.kind === 'constant' ? (key.value as string) : ''
}
