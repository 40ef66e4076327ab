import { nearestName } from '../text/nearest.ts'
import type { Comparison, Json, Node, RunFact } from './expression.ts'
import { FUNCTIONS } from './functions.ts'
import { describeKinds, type ValueKind, valueKindOf, mayBe } from './value-kinds.ts'
import { expressionError } from './expression-error.ts'

/** The names that an expression may use at this position. */
export interface Names {
  /** The fields of the input; null if any field is allowed. */
  readonly input: ReadonlyMap<string, ValueKind> | null
  readonly facts: readonly RunFact[]
  /** Whether `item` is available: in a step with `each`. */
  readonly hasItem: boolean
  readonly maySecrets: boolean
  /** Whether `after` is available: in the input of a trigger. */
  readonly hasAfter?: boolean
  /** Called with the field of each expression before it is read. Throws if there are too many. */
  readonly onExpression?: (field: string) => void
  /** The reason why the step cannot be referenced here; undefined if it can. */
  refuseStep(name: string): { readonly message: string; readonly hint?: string } | undefined
}

/** The type of an expression, as far as it is known. Throws if the expression can never be valid. */
export function checkNode(node: Node, names: Names, field: string): ValueKind {
  const check = (inner: Node) => checkNode(inner, names, field)
  switch (node.kind) {
    case 'value':
      return valueKindOf(node.value)
    case 'input':
      return names.input ? 'object' : 'any'
    case 'run':
      return checkFact(node.fact, names, field)
    case 'item':
    case 'index': {
      if (names.hasItem) return node.kind === 'item' ? 'any' : 'number'
      const word = node.kind === 'item' ? 'item' : 'each.index'
      const message = `${word} is only available in a step with each`
      throw expressionError(field, message)
    }
    case 'step': {
      const refused = names.refuseStep(node.step)
      if (refused) throw expressionError(field, refused.message, refused.hint)
      return node.fact === 'state' ? 'string' : 'any'
    }
    case 'after': {
      if (names.hasAfter) return node.fact === 'input' || node.fact === 'output' ? 'any' : 'string'
      const hint = 'Name it in the `input` of the trigger, and here the field of the input.'
      throw expressionError(field, `after.${node.fact} is only available in a trigger`, hint)
    }
    case 'secret': {
      if (names.maySecrets) return 'string'
      const hint =
        'Give it to the step with `secrets`, or in `env`, or in a header or body of `http`.'
      throw expressionError(field, `secrets.${node.name} cannot be given here`, hint)
    }
    case 'path':
      return checkPath(node, names, field)
    case 'not':
    case 'all':
    case 'any':
      for (const part of [node.of].flat() as readonly Node[]) {
        require(check(part), ['boolean', 'null'], field, SIGNS[node.kind])
      }
      return 'boolean'
    case 'compare':
      return checkComparison(node.by, check(node.left), check(node.right), field)
    case 'call': {
      const { takes, gives, usage } = FUNCTIONS[node.name] as (typeof FUNCTIONS)[string]
      for (const [nth, given] of node.given.entries()) {
        require(check(given), takes[nth] ?? ['any'], field, usage)
      }
      return gives
    }
  }
}

const SIGNS = { not: '!', all: '&&', any: '||' } as const

function require(kind: ValueKind, wanted: readonly ValueKind[], field: string, by: string): void {
  if (mayBe(kind, wanted)) return
  const means = wanted.filter((one) => one !== 'null')
  throw expressionError(
    field,
    `${by} takes ${describeKinds(...means)}, and this is ${describeKinds(kind)}`,
  )
}

function checkFact(fact: RunFact, { facts }: Names, field: string): ValueKind {
  if (facts.includes(fact)) return NUMBERS.has(fact) ? 'number' : 'string'
  throw expressionError(field, `run.${fact} is not known yet where this is evaluated`)
}

/** Facts of type number. The two-digit forms of the time parts are in the text of `run.scheduled_at`. */
const NUMBERS: ReadonlySet<RunFact> = new Set([
  'wave',
  'scheduled_at.year',
  'scheduled_at.month',
  'scheduled_at.day',
  'scheduled_at.hour',
  'scheduled_at.minute',
])

function checkPath(node: Extract<Node, { kind: 'path' }>, names: Names, field: string): ValueKind {
  let kind = checkNode(node.of, names, field)
  for (const [nth, key] of node.keys.entries()) {
    const keyKind = checkNode(key, names, field)
    if (nth === 0 && node.of.kind === 'input' && names.input && key.kind === 'value') {
      kind = parameterKind(key.value, names.input, field)
      continue
    }
    if (!mayBe(kind, ['object', 'array'])) {
      throw expressionError(field, `${describeKinds(kind)} has no members`)
    }
    const wanted: readonly ValueKind[] =
      kind === 'array' ? ['number'] : kind === 'object' ? ['string'] : ['number', 'string']
    require(keyKind, wanted, field, '[ ]')
    kind = 'any'
  }
  return kind
}

function parameterKind(key: Json, input: ReadonlyMap<string, ValueKind>, field: string): ValueKind {
  const name = typeof key === 'string' ? key : JSON.stringify(key)
  const kind = input.get(name)
  if (kind !== undefined) return kind
  const known = [...input.keys()]
  const suggestion = nearestName(name, known)
  const advice = suggestion === undefined ? '' : `; did you mean input.${suggestion}?`
  const hint = known.length === 0 ? 'Its input has no fields.' : `It has ${known.join(', ')}.`
  throw expressionError(field, `the job has no input ${name}${advice}`, hint)
}

function checkComparison(
  by: Comparison,
  left: ValueKind,
  right: ValueKind,
  field: string,
): ValueKind {
  if (left === 'any' || right === 'any') return 'boolean'
  const isEquality = by === '==' || by === '!='
  if (isEquality && (left === right || left === 'null' || right === 'null')) return 'boolean'
  if (!isEquality && left === right && (left === 'number' || left === 'string')) return 'boolean'
  const message = `${describeKinds(left)} cannot be compared with ${describeKinds(right)} by ${by}`
  throw expressionError(
    field,
    message,
    'number(…) converts a text to a number, text(…) a value to a text.',
  )
}
