import type { AfterFact, Expression, Json, Node, RunFact } from './expression.ts'
import { FUNCTIONS, isDeepEqual } from './functions.ts'
import { describeKinds, valueKindOf, mayBe } from './value-kinds.ts'
import { expressionError } from './expression-error.ts'

/** The values of names during the evaluation of an expression. */
export interface Scope {
  readonly input: Json
  readonly run: RunScope
  /** The state and output of a step; called only for steps that were checked to end before this evaluation. */
  step(name: string): { readonly state: string; readonly output: Json }
  readonly item?: Json
  readonly index?: number
  /** The run that triggered this one; only in the input of a trigger. */
  readonly after?: AfterScope
}

export type AfterScope = Readonly<Record<AfterFact, Json>>

export interface RunScope {
  readonly job: string
  readonly project: string
  readonly id?: string
  readonly wave?: number
  /** Local time in the zone of its schedule: `2026-03-29T03:00:00+03:00`. */
  readonly scheduledAt: string
}

/**
 * Evaluates an expression. Values are data: no text in them is read as an expression, and only own properties are
 * accessible. A missing member is null.
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
      // Secrets are extracted when the text is read; their values are never part of an evaluation.
      throw expressionError(field, `secrets.${node.name} cannot be given here`)
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
      if (node.by === '==' || node.by === '!=')
        return isDeepEqual(left, right) === (node.by === '==')
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

/** Null (a missing value) counts as false. */
export function isTrue(value: Json, field: string): boolean {
  if (typeof value === 'boolean') return value
  if (value === null) return false
  throw expressionError(
    field,
    `it should be true or false, and is ${describeKinds(valueKindOf(value))}`,
  )
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
  // Compares by code units, which is the same on every system and sorts dates correctly.
  if (typeof left === 'string' && typeof right === 'string') {
    return left < right ? -1 : Number(left > right)
  }
  const message = `${describeKinds(valueKindOf(left))} cannot be compared with ${describeKinds(valueKindOf(right))}`
  throw expressionError(field, message, 'default(…) sets a value for a missing one.')
}

function call(name: string, given: readonly Json[], field: string): Json {
  const { takes, usage, call: apply } = FUNCTIONS[name] as (typeof FUNCTIONS)[string]
  for (const [nth, value] of given.entries()) {
    if (mayBe(valueKindOf(value), takes[nth] ?? ['any'])) continue
    throw expressionError(
      field,
      `it is written ${usage}, and was given ${describeKinds(valueKindOf(value))}`,
    )
  }
  try {
    return apply(given)
  } catch (error) {
    throw expressionError(field, (error as Error).message)
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
