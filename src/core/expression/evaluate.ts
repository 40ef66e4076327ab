import type { AfterFact, Expression, Json, Node, RunFact } from './expression.ts'
import { FUNCTIONS, isSame } from './functions.ts'
import { inWords, kindOf, mayBe } from './value-kinds.ts'
import { wrongExpression } from './expression-error.ts'

/** What names stand for while an expression is evaluated. */
export interface Scope {
  readonly input: Json
  readonly run: RunScope
  /** What became of a step; only steps that were checked to come before are asked for. */
  step(name: string): { readonly state: string; readonly output: Json }
  readonly item?: Json
  readonly index?: number
  /** The run that this one follows, in the trigger that says so. */
  readonly after?: AfterScope
}

export type AfterScope = Readonly<Record<AfterFact, Json>>

export interface RunScope {
  readonly job: string
  readonly project: string
  readonly id?: string
  readonly wave?: number
  /** On the clocks of its schedule: `2026-03-29T03:00:00+03:00`. */
  readonly scheduledAt: string
}

/**
 * What an expression is. Values are data: nothing in them is read again as an expression, and members
 * are only those that are their own. What is not there is null.
 */
export function evaluate({ root, field }: Expression, scope: Scope): Json {
  return valueOf(root, scope, field)
}

function valueOf(node: Node, scope: Scope, field: string): Json {
  switch (node.kind) {
    case 'value':
      return node.value
    case 'input':
      return scope.input
    case 'run':
      return factOf(node.fact, scope.run)
    case 'step':
      return scope.step(node.step)[node.fact]
    case 'after':
      return scope.after?.[node.fact] ?? null
    case 'item':
      return scope.item ?? null
    case 'index':
      return scope.index ?? null
    case 'secret':
      // Taken out of the text when it was read: a value never comes near an expression.
      throw wrongExpression(field, `secrets.${node.name} cannot be given here`)
    case 'path':
      return node.keys.reduce<Json>(
        (value, key) => memberOf(value, valueOf(key, scope, field)),
        valueOf(node.of, scope, field),
      )
    case 'not':
      return !isTrue(valueOf(node.of, scope, field), field)
    case 'all':
      return node.of.every((part) => isTrue(valueOf(part, scope, field), field))
    case 'any':
      return node.of.some((part) => isTrue(valueOf(part, scope, field), field))
    case 'compare': {
      const [left, right] = [valueOf(node.left, scope, field), valueOf(node.right, scope, field)]
      if (node.by === '==' || node.by === '!=') return isSame(left, right) === (node.by === '==')
      return ORDER[node.by](compare(left, right, field))
    }
    case 'call':
      return call(
        node.name,
        node.given.map((given) => valueOf(given, scope, field)),
        field,
      )
  }
}

/** Null is what is not there, and that is not so. */
export function isTrue(value: Json, field: string): boolean {
  if (typeof value === 'boolean') return value
  if (value === null) return false
  throw wrongExpression(field, `it should be true or false, and is ${inWords(kindOf(value))}`)
}

function memberOf(value: Json, key: Json): Json {
  if (Array.isArray(value)) {
    const item = typeof key === 'number' ? (value as readonly Json[])[key] : undefined
    return item ?? null
  }
  if (typeof value !== 'object' || value === null || typeof key !== 'string') return null
  return Object.hasOwn(value, key) ? ((value as Record<string, Json>)[key] ?? null) : null
}

const ORDER: Readonly<Record<'<' | '>' | '<=' | '>=', (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '>': (order) => order > 0,
  '<=': (order) => order <= 0,
  '>=': (order) => order >= 0,
}

function compare(left: Json, right: Json, field: string): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  // By code units, the same everywhere: dates sort as they should.
  if (typeof left === 'string' && typeof right === 'string') {
    return left < right ? -1 : Number(left > right)
  }
  const message = `${inWords(kindOf(left))} cannot be compared with ${inWords(kindOf(right))}`
  throw wrongExpression(field, message, 'default(…) says what to take for what is not there.')
}

function call(name: string, given: readonly Json[], field: string): Json {
  const { takes, usage, call: apply } = FUNCTIONS[name] as (typeof FUNCTIONS)[string]
  for (const [nth, value] of given.entries()) {
    if (mayBe(kindOf(value), takes[nth] ?? ['any'])) continue
    throw wrongExpression(field, `it is written ${usage}, and was given ${inWords(kindOf(value))}`)
  }
  try {
    return apply(given)
  } catch (error) {
    throw wrongExpression(field, (error as Error).message)
  }
}

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

function factOf(fact: RunFact, { id, job, project, wave, scheduledAt }: RunScope): Json {
  const date = scheduledAt.slice(0, 10)
  switch (fact) {
    case 'id':
      return id ?? null
    case 'job':
      return job
    case 'project':
      return project
    case 'wave':
      return wave ?? null
    case 'scheduled_at':
      return scheduledAt
    case 'scheduled_at.date':
      return date
    case 'scheduled_at.time':
      return scheduledAt.slice(11, 19)
    case 'scheduled_at.year':
      return Number(scheduledAt.slice(0, 4))
    case 'scheduled_at.month':
      return Number(scheduledAt.slice(5, 7))
    case 'scheduled_at.day':
      return Number(scheduledAt.slice(8, 10))
    case 'scheduled_at.hour':
      return Number(scheduledAt.slice(11, 13))
    case 'scheduled_at.minute':
      return Number(scheduledAt.slice(14, 16))
    case 'scheduled_at.weekday':
      return WEEKDAYS[new Date(`${date}T00:00:00Z`).getUTCDay()] ?? null
  }
}
