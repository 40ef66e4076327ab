import { evaluate, type Scope } from '../../expression/evaluate.ts'
import type { Json, Template } from '../../expression/expression.ts'
import { fillWith } from '../../expression/fill-template.ts'
import { asText } from '../../expression/functions.ts'
import { expressionError } from '../../expression/expression-error.ts'
import { LIMITS } from '../../limits.ts'
import type { Submission } from '../../wire/protocol.ts'
import { readSubmission, type WireSubmission } from '../../wire/runs.ts'
import { checkSize, type StartedWork } from '../../work/work.ts'
import { checkArgument } from '../../work/check-text.ts'
import type { Placeholder, WorkTemplate } from '../workflow.ts'

/**
 * The submission of a step with its expressions evaluated. Throws if a value cannot be submitted: it is too long, or
 * contains NUL.
 */
export function resolveWork(template: WorkTemplate, scope: Scope, job: string): Submission {
  const { at, sample, placeholders, variables } = template
  const wire = placeholders.length === 0 ? sample : structuredClone(sample)
  const isFree = createSecretCheck(sample)
  for (const placeholder of placeholders) {
    setAtPath(wire, placeholder.path, valueOf(placeholder, scope, isFree))
  }
  const submission = readSubmission({ ...wire, job }, at)
  if (variables.length === 0) return submission
  const values = variables.map(([name, value]) => {
    return [name, checkArgument(asText(evaluate(value, scope)), value.field)] as const
  })
  const { env } = submission.work as { env?: Readonly<Record<string, string>> }
  const work = { ...submission.work, env: { ...env, ...Object.fromEntries(values) } } as StartedWork
  checkSize(work, at)
  return { ...submission, work }
}

function valueOf({ template, as, path }: Placeholder, scope: Scope, isFree: Check): Json {
  const isRequest = path[0] === 'http' && path[1] !== 'url'
  const first = template.kind === 'text' ? template.parts[0] : undefined
  const value = fillWith(template, {
    valueOf(expression) {
      const found = evaluate(expression, scope)
      // A URL may begin with an expression: that part is not encoded.
      const isPart = as === 'address' && template.kind === 'text' && expression !== first
      return isPart ? encodeURIComponent(asText(found).toWellFormed()) : found
    },
    write: asText,
  })
  if (isRequest) isFree(value, template)
  return as === 'value' ? fitting(value, template) : asText(value)
}

function fitting(value: Json, template: Placeholder['template']): Json {
  const bytes = bytesOf(value)
  if (bytes <= LIMITS.inputBytes) return value
  const field = template.kind === 'expression' ? template.expression.field : 'with'
  const size = bytes === Infinity ? 'too large' : `${bytes} bytes`
  throw expressionError(field, `it is ${size}; at most ${LIMITS.inputBytes} bytes are allowed`)
}

/** The size of a value; repeated large parts can exceed the maximum length of a string. */
function bytesOf(value: Json): number {
  try {
    return Buffer.byteLength(JSON.stringify(value))
  } catch (error) {
    if (error instanceof RangeError) return Infinity
    throw error
  }
}

type Check = (value: Json, template: Template) => void

/**
 * A worker replaces `${NAME}` with a secret. No value of an expression may create such a placeholder, alone or with
 * the text around it: the value must contain as many of them as the definition.
 */
function createSecretCheck({ secrets = [] }: WireSubmission): Check {
  const marks = secrets.map((secret) => `\${${typeof secret === 'string' ? secret : secret.name}}`)
  return (value, template) => {
    if (marks.length === 0) return
    const text = JSON.stringify(value)
    const mark = marks.find((one) => timesIn(text, one) > timesWritten(template, one))
    if (mark === undefined) return
    throw expressionError(fieldOf(template), `the value says ${mark}, which would be replaced`)
  }
}

function timesIn(text: string, mark: string): number {
  return text.split(mark).length - 1
}

function timesWritten(template: Template, mark: string): number {
  const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0)
  switch (template.kind) {
    case 'constant':
      return timesIn(JSON.stringify(template.value), mark)
    case 'expression':
      return 0
    case 'text':
      return sum(template.parts.map((one) => (typeof one === 'string' ? timesIn(one, mark) : 0)))
    case 'list':
      return sum(template.items.map((item) => timesWritten(item, mark)))
    case 'object':
      return sum(
        template.entries.map(([key, item]) => timesIn(key, mark) + timesWritten(item, mark)),
      )
  }
}

/** The field of its first expression. */
function fieldOf(template: Template): string {
  switch (template.kind) {
    case 'constant':
      return ''
    case 'expression':
      return template.expression.field
    case 'text':
      return template.parts.find((part) => typeof part === 'object')?.field ?? ''
    case 'list':
      return template.items.map(fieldOf).find((field) => field !== '') ?? ''
    case 'object':
      return template.entries.map(([, item]) => fieldOf(item)).find((field) => field !== '') ?? ''
  }
}

function setAtPath(wire: WireSubmission, path: Placeholder['path'], value: Json): void {
  let target = wire as Record<string | number, unknown>
  for (const key of path.slice(0, -1)) target = (target[key] ??= {}) as typeof target
  target[path.at(-1) as string] = value
}
