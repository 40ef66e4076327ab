import { evaluate, type Scope } from '../expression/evaluate.ts'
import type { Json } from '../expression/expression.ts'
import { fillWith } from '../expression/fill-template.ts'
import { asText } from '../expression/functions.ts'
import { wrongExpression } from '../expression/problem.ts'
import { LIMITS } from '../limits.ts'
import type { Submission } from '../protocol.ts'
import { readSubmission, type WireSubmission } from '../wire.ts'
import { checkSize, type StartedWork } from '../work.ts'
import { argument } from '../work-text.ts'
import type { Hole, WorkTemplate } from './workflow.ts'

/**
 * The submission a step is, now that its expressions can be evaluated. Throws what came of them that
 * cannot be submitted: a value that is too long, or a NUL.
 */
export function resolveWork(template: WorkTemplate, scope: Scope, job: string): Submission {
  const { at, sample, holes, variables } = template
  const wire = holes.length === 0 ? sample : structuredClone(sample)
  const isFree = freeOfSecrets(sample)
  for (const hole of holes) put(wire, hole.path, valueOf(hole, scope, isFree))
  const submission = readSubmission({ ...wire, job }, at)
  if (variables.length === 0) return submission
  const values = variables.map(([name, value]) => {
    return [name, argument(asText(evaluate(value, scope)), value.field)] as const
  })
  const { env } = submission.work as { env?: Readonly<Record<string, string>> }
  const work = { ...submission.work, env: { ...env, ...Object.fromEntries(values) } } as StartedWork
  checkSize(work, at)
  return { ...submission, work }
}

function valueOf({ template, as, path }: Hole, scope: Scope, isFree: Check): Json {
  const isRequest = path[0] === 'http' && path[1] !== 'url'
  const first = template.kind === 'text' ? template.parts[0] : undefined
  const value = fillWith(template, {
    valueOf(expression) {
      const found = evaluate(expression, scope)
      if (isRequest) isFree(found, expression.field)
      // An address may begin with one: what leads there is not to be encoded.
      const isPart = as === 'address' && template.kind === 'text' && expression !== first
      return isPart ? encodeURIComponent(asText(found).toWellFormed()) : found
    },
    write: asText,
  })
  return as === 'value' ? fitting(value, template) : asText(value)
}

function fitting(value: Json, template: Hole['template']): Json {
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes <= LIMITS.inputBytes) return value
  const field = template.kind === 'expression' ? template.expression.field : 'with'
  throw wrongExpression(field, `it is ${bytes} bytes; at most ${LIMITS.inputBytes} are allowed`)
}

type Check = (value: Json, field: string) => void

/** A worker puts a secret where `${NAME}` stands; no value of an expression may ask it to. */
function freeOfSecrets({ secrets = [] }: WireSubmission): Check {
  const marks = secrets.map((secret) => `\${${typeof secret === 'string' ? secret : secret.name}}`)
  return (value, field) => {
    if (marks.length === 0) return
    const text = JSON.stringify(value)
    const mark = marks.find((one) => text.includes(one))
    if (mark) throw wrongExpression(field, `the value says ${mark}, which would be replaced`)
  }
}

function put(wire: WireSubmission, path: Hole['path'], value: Json): void {
  let target = wire as Record<string | number, unknown>
  for (const key of path.slice(0, -1)) target = (target[key] ??= {}) as typeof target
  target[path.at(-1) as string] = value
}
