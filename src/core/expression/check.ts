import { nearestName } from '../text/nearest.ts'
import type { Comparison, Json, Node, RunFact } from './expression.ts'
import { FUNCTIONS } from './functions.ts'
import { inWords, type Kind, kindOf, mayBe } from './value-kinds.ts'
import { wrongExpression } from './expression-error.ts'

/** What can be named where an expression stands. */
export interface Names {
  /** The fields of the input; null where it may be anything. */
  readonly input: ReadonlyMap<string, Kind> | null
  readonly facts: readonly RunFact[]
  /** In a step that runs for every item of a list. */
  readonly hasItem: boolean
  readonly maySecrets: boolean
  /** Where a trigger says what a run gets that follows another. */
  readonly hasAfter?: boolean
  /** Why a step cannot be named here, if it cannot. */
  refuseStep(name: string): { readonly message: string; readonly hint?: string } | undefined
}

/** What an expression will be, as far as that can be told. Throws what could never be right. */
export function checkNode(node: Node, names: Names, field: string): Kind {
  const check = (inner: Node) => checkNode(inner, names, field)
  switch (node.kind) {
    case 'value':
      return kindOf(node.value)
    case 'input':
      return names.input ? 'object' : 'any'
    case 'run':
      return checkFact(node.fact, names, field)
    case 'item':
    case 'index': {
      if (names.hasItem) return node.kind === 'item' ? 'any' : 'number'
      const word = node.kind === 'item' ? 'item' : 'each.index'
      const message = `${word} is only there in a step with each`
      throw wrongExpression(field, message)
    }
    case 'step': {
      const refused = names.refuseStep(node.step)
      if (refused) throw wrongExpression(field, refused.message, refused.hint)
      return node.fact === 'state' ? 'string' : 'any'
    }
    case 'after': {
      if (names.hasAfter) return node.fact === 'input' || node.fact === 'output' ? 'any' : 'string'
      const hint = 'Name it in the `input` of the trigger, and here the field of the input.'
      throw wrongExpression(field, `after.${node.fact} is only there in a trigger`, hint)
    }
    case 'secret': {
      if (names.maySecrets) return 'string'
      const hint =
        'Give it to the step with `secrets`, or in `env`, or in a header or body of `http`.'
      throw wrongExpression(field, `secrets.${node.name} cannot be given here`, hint)
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

function require(kind: Kind, wanted: readonly Kind[], field: string, by: string): void {
  if (mayBe(kind, wanted)) return
  const means = wanted.filter((one) => one !== 'null')
  throw wrongExpression(field, `${by} takes ${inWords(...means)}, and this is ${inWords(kind)}`)
}

function checkFact(fact: RunFact, { facts }: Names, field: string): Kind {
  if (facts.includes(fact)) return NUMBERS.has(fact) ? 'number' : 'string'
  throw wrongExpression(field, `run.${fact} is not known yet where this is evaluated`)
}

/** Parts of a time that people calculate with; written in two digits, they are in its text. */
const NUMBERS: ReadonlySet<RunFact> = new Set([
  'wave',
  'scheduled_at.year',
  'scheduled_at.month',
  'scheduled_at.day',
  'scheduled_at.hour',
  'scheduled_at.minute',
])

function checkPath(node: Extract<Node, { kind: 'path' }>, names: Names, field: string): Kind {
  let kind = checkNode(node.of, names, field)
  for (const [nth, key] of node.keys.entries()) {
    const keyKind = checkNode(key, names, field)
    if (nth === 0 && node.of.kind === 'input' && names.input && key.kind === 'value') {
      kind = parameterKind(key.value, names.input, field)
      continue
    }
    if (!mayBe(kind, ['object', 'array'])) {
      throw wrongExpression(field, `${inWords(kind)} has no members`)
    }
    const wanted: readonly Kind[] =
      kind === 'array' ? ['number'] : kind === 'object' ? ['string'] : ['number', 'string']
    require(keyKind, wanted, field, '[ ]')
    kind = 'any'
  }
  return kind
}

function parameterKind(key: Json, input: ReadonlyMap<string, Kind>, field: string): Kind {
  const name = typeof key === 'string' ? key : JSON.stringify(key)
  const kind = input.get(name)
  if (kind !== undefined) return kind
  const known = [...input.keys()]
  const meant = nearestName(name, known)
  const advice = meant === undefined ? '' : `; did you mean input.${meant}?`
  const hint = known.length === 0 ? 'Its input has no fields.' : `It has ${known.join(', ')}.`
  throw wrongExpression(field, `the job has no input ${name}${advice}`, hint)
}

function checkComparison(by: Comparison, left: Kind, right: Kind, field: string): Kind {
  if (left === 'any' || right === 'any') return 'boolean'
  const isEquality = by === '==' || by === '!='
  if (isEquality && (left === right || left === 'null' || right === 'null')) return 'boolean'
  if (!isEquality && left === right && (left === 'number' || left === 'string')) return 'boolean'
  const message = `${inWords(left)} cannot be compared with ${inWords(right)} by ${by}`
  throw wrongExpression(field, message, 'number(…) makes a number of a text, text(…) the opposite.')
}
