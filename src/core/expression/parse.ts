import { LIMITS } from '../limits.ts'
import { nearestName } from '../text/nearest.ts'
import { COMPARISONS, type Comparison, type Node } from './expression.ts'
import { FUNCTIONS } from './functions.ts'
import { parseRoot, EXPRESSION_ROOTS } from './roots.ts'
import { expressionError } from './expression-error.ts'
import type { Token } from './tokens.ts'

/** Reads tokens one after the other. Every error names the unexpected token. */
export interface Reader {
  readonly field: string
  /** Takes the next token if it is this sign. */
  sign(text: string): boolean
  /** Takes the sign, or throws an error that names it. */
  expect(text: string): void
  peek(): Token | undefined
  next(): Token | undefined
  refuse(expected: string): Error
}

export function parse(tokens: readonly Token[], field: string): Node {
  const reader = createReader(tokens, field)
  if (tokens.length === 0) throw expressionError(field, '${{ }} is empty')
  const root = either(reader, 0)
  if (reader.peek() !== undefined) throw reader.refuse('the end')
  return root
}

function either(reader: Reader, depth: number): Node {
  return chain(reader, '||', 'any', () => both(reader, depth))
}

function both(reader: Reader, depth: number): Node {
  return chain(reader, '&&', 'all', () => comparison(reader, depth))
}

function chain(reader: Reader, sign: string, kind: 'all' | 'any', part: () => Node): Node {
  const first = part()
  const of = [first]
  while (reader.sign(sign)) of.push(part())
  return of.length === 1 ? first : { kind, of }
}

function comparison(reader: Reader, depth: number): Node {
  const left = negation(reader, depth)
  const by = comparisonIn(reader)
  if (by === undefined) return left
  const right = negation(reader, depth)
  if (comparisonIn(reader) !== undefined) {
    const hint = 'Write a < b && b < c.'
    throw expressionError(reader.field, 'comparisons cannot be chained', hint)
  }
  return { kind: 'compare', by, left, right }
}

function comparisonIn(reader: Reader): Comparison | undefined {
  return COMPARISONS.find((sign) => reader.sign(sign))
}

function negation(reader: Reader, depth: number): Node {
  if (!reader.sign('!')) return postfix(reader, depth)
  return { kind: 'not', of: negation(reader, deeper(reader, depth)) }
}

const TRAPS = new Set(['__proto__', 'constructor', 'prototype'])

function postfix(reader: Reader, depth: number): Node {
  const of = primary(reader, depth)
  const keys: Node[] = []
  for (;;) {
    if (reader.sign('.')) keys.push({ kind: 'value', value: memberName(reader) })
    else if (reader.sign('[')) {
      keys.push(notATrap(either(reader, deeper(reader, depth)), reader.field))
      reader.expect(']')
    } else break
  }
  return keys.length === 0 ? of : { kind: 'path', of, keys }
}

function memberName(reader: Reader): string {
  const token = reader.peek()
  if (token?.kind !== 'word') throw reader.refuse('a name after the dot')
  reader.next()
  return (notATrap({ kind: 'value', value: token.text }, reader.field) as { value: string }).value
}

function notATrap(key: Node, field: string): Node {
  if (key.kind !== 'value' || typeof key.value !== 'string' || !TRAPS.has(key.value)) return key
  throw expressionError(field, `${key.value} cannot be asked for`)
}

function primary(reader: Reader, depth: number): Node {
  if (reader.sign('(')) {
    const inner = either(reader, deeper(reader, depth))
    reader.expect(')')
    return inner
  }
  const token = reader.peek()
  if (token === undefined || token.kind === 'sign') throw reader.refuse('a value')
  reader.next()
  if (token.kind === 'string') return { kind: 'value', value: token.text }
  if (token.kind === 'number') return { kind: 'value', value: finite(token.text, reader.field) }
  if (reader.sign('(')) return call(token.text, reader, depth)
  return parseRoot(token.text, reader) ?? refuseWord(token.text, reader.field)
}

function call(name: string, reader: Reader, depth: number): Node {
  const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
  if (!known) {
    const suggestion = nearestName(name, Object.keys(FUNCTIONS))
    const advice = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
    const hint = `There are ${Object.keys(FUNCTIONS).join(', ')}.`
    throw expressionError(reader.field, `there is no function ${name}${advice}`, hint)
  }
  const given: Node[] = []
  const inside = deeper(reader, depth)
  while (!reader.sign(')')) {
    if (given.length > 0) reader.expect(',')
    given.push(either(reader, inside))
  }
  if (given.length === known.takes.length) return { kind: 'call', name, given }
  throw expressionError(reader.field, `${name} is written ${known.usage}`)
}

function deeper(reader: Reader, depth: number): number {
  if (depth < LIMITS.expressionDepth) return depth + 1
  const message = `it is more than ${LIMITS.expressionDepth} brackets deep`
  throw expressionError(reader.field, message)
}

function finite(text: string, field: string): number {
  const number = Number(text)
  if (Number.isFinite(number)) return number
  throw expressionError(field, `${text} is too large a number`)
}

function refuseWord(word: string, field: string): never {
  const suggestion = nearestName(word, EXPRESSION_ROOTS)
  const advice = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
  const hint = `Expressions can use ${EXPRESSION_ROOTS.slice(0, -1).join(', ')} and ${EXPRESSION_ROOTS.at(-1)}; write texts in quotes.`
  throw expressionError(field, `nothing is called ${word}${advice}`, hint)
}

function createReader(tokens: readonly Token[], field: string): Reader {
  let at = 0
  const reader: Reader = {
    field,
    peek: () => tokens[at],
    next: () => tokens[at++],
    sign(text) {
      const token = tokens[at]
      if (token?.kind !== 'sign' || token.text !== text) return false
      at += 1
      return true
    },
    expect(text) {
      if (!reader.sign(text)) throw reader.refuse(text)
    },
    refuse(expected) {
      const token = tokens[at]
      const found = token === undefined ? 'it ends' : `there is ${token.text.slice(0, 40)}`
      return expressionError(field, `${found} where ${expected} should be`)
    },
  }
  return reader
}
