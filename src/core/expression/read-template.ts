import { LIMITS } from '../limits.ts'
import { checkNode, type Names } from './check.ts'
import type { Expression, Json, Template } from './expression.ts'
import type { Kind } from './value-kinds.ts'
import { parse } from './parse.ts'
import { shown, wrongExpression } from './expression-error.ts'
import { stepsIn } from './references.ts'
import { readTokens } from './tokens.ts'

const OPEN = '${{'

export function hasExpression(text: string): boolean {
  return text.includes(OPEN)
}

/** A text with the expressions in it, in order. */
export function readText(text: string, names: Names, field: string): (string | Expression)[] {
  if (text.length > LIMITS.expressionLength && hasExpression(text)) {
    const message = `a text with expressions has at most ${LIMITS.expressionLength} characters`
    throw wrongExpression(field, message)
  }
  const parts: (string | Expression)[] = []
  let plain = ''
  let at = 0
  for (;;) {
    const open = text.indexOf(OPEN, at)
    if (open < 0) break
    if (text[open - 1] === '$' && open > at) {
      plain += text.slice(at, open - 1) + OPEN
      at = open + OPEN.length
      continue
    }
    plain += text.slice(at, open)
    if (plain !== '') parts.push(plain)
    plain = ''
    const { tokens, end } = readTokens(text, open + OPEN.length, field)
    const root = parse(tokens, field)
    checkNode(root, names, field)
    parts.push({ root, text: text.slice(open, end), field, steps: stepsIn(root) })
    at = end
  }
  plain += text.slice(at)
  if (plain !== '') parts.push(plain)
  return parts
}

/** A text that is one expression and nothing else, and what kind of value it will be. */
export function readExpression(
  text: string,
  names: Names,
  field: string,
): { readonly expression: Expression; readonly kind: Kind } {
  const [expression, more] = readText(text.trim(), names, field)
  if (typeof expression === 'object' && more === undefined) {
    return { expression, kind: checkNode(expression.root, names, field) }
  }
  const message = `it has to be one expression, and is "${shown(text)}"`
  throw wrongExpression(field, message, 'Write it between ${{ and }}, and nothing beside it.')
}

/** JSON with expressions in its texts. Its depth is bounded where it is read, so this may recurse. */
export function readTemplate(value: unknown, names: Names, field: string): Template {
  if (typeof value === 'string') return textTemplate(value, names, field)
  if (typeof value !== 'object' || value === null || !mentions(value)) {
    return { kind: 'constant', value: value as Json }
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => readTemplate(item, names, `${field}.${index}`))
    return { kind: 'list', items }
  }
  const entries = Object.entries(value).map(
    ([key, item]) => [key, readTemplate(item, names, `${field}.${key}`)] as const,
  )
  return { kind: 'object', entries }
}

function textTemplate(text: string, names: Names, field: string): Template {
  if (!hasExpression(text)) return { kind: 'constant', value: text }
  const parts = readText(text, names, field)
  const [only, more] = parts
  if (typeof only === 'object' && more === undefined)
    return { kind: 'expression', expression: only }
  if (parts.every((part) => typeof part === 'string')) {
    return { kind: 'constant', value: parts.join('') }
  }
  return { kind: 'text', parts }
}

function mentions(value: unknown): boolean {
  if (typeof value === 'string') return hasExpression(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(mentions)
}
