import { LIMITS } from '../limits.ts'
import { checkNode, type Names } from './check.ts'
import type { Expression, Json, Template } from './expression.ts'
import type { ValueKind } from './value-kinds.ts'
import { parse } from './parse.ts'
import { withTextRange, shortened, expressionError } from './expression-error.ts'
import { stepsIn } from './references.ts'
import { readTokens } from './tokens.ts'

const OPEN = '${{'

export function hasExpression(text: string): boolean {
  return text.includes(OPEN)
}

/** Splits a text into its literal parts and expressions, in order. */
export function readText(text: string, names: Names, field: string): (string | Expression)[] {
  if (text.length > LIMITS.expressionLength && hasExpression(text)) {
    const message = `a text with expressions has at most ${LIMITS.expressionLength} characters`
    throw expressionError(field, message)
  }
  const parts: (string | Expression)[] = []
  let literal = ''
  let at = 0
  for (;;) {
    const open = text.indexOf(OPEN, at)
    if (open < 0) break
    if (text[open - 1] === '$' && open > at) {
      literal += text.slice(at, open - 1) + OPEN
      at = open + OPEN.length
      continue
    }
    literal += text.slice(at, open)
    if (literal !== '') parts.push(literal)
    literal = ''
    names.onExpression?.(field)
    const expression = readOne(text, open, names, field)
    parts.push(expression)
    at = open + expression.text.length
  }
  literal += text.slice(at)
  if (literal !== '') parts.push(literal)
  return parts
}

/** Reads the expression that opens here. */
function readOne(text: string, open: number, names: Names, field: string): Expression {
  let length = lengthToLineEnd(text, open)
  try {
    const { tokens, end } = readTokens(text, open + OPEN.length, field)
    length = end - open
    const root = parse(tokens, field)
    checkNode(root, names, field)
    return { root, text: text.slice(open, end), field, steps: stepsIn(root) }
  } catch (error) {
    throw withTextRange(error, { at: open, length })
  }
}

/**
 * The range of an unreadable expression: up to its closing brackets if they are on the same line, else to the end of
 * the line.
 */
function lengthToLineEnd(text: string, open: number): number {
  const [line = ''] = text.slice(open).split('\n', 1)
  const close = line.indexOf('}}')
  return close < 0 ? line.length : close + 2
}

/** Reads a text that consists of exactly one expression, and determines the type of its value. */
export function readExpression(
  text: string,
  names: Names,
  field: string,
): { readonly expression: Expression; readonly kind: ValueKind } {
  const [expression, more] = readText(text.trim(), names, field)
  if (typeof expression === 'object' && more === undefined) {
    return { expression, kind: checkNode(expression.root, names, field) }
  }
  const message = `it must be one expression, and is "${shortened(text)}"`
  throw expressionError(field, message, 'Write it between ${{ and }}, without other text.')
}

/** Reads JSON with expressions in its texts. Its depth was limited when it was parsed, so recursion is safe. */
export function readTemplate(value: unknown, names: Names, field: string): Template {
  const takeFromBudget = createValueBudget(field)
  return (
    readParts(value, names, [field], takeFromBudget) ?? { kind: 'constant', value: value as Json }
  )
}

/**
 * Counts the values of a template and throws when there are too many: a template is built in one go and would block
 * the event loop.
 */
type ValueBudget = (values: number) => void

function createValueBudget(field: string): ValueBudget {
  let left = LIMITS.templateValues
  return (values) => {
    left -= values
    if (left >= 0) return
    const message = `lists and objects with expressions have at most ${LIMITS.templateValues} values together`
    throw expressionError(
      field,
      message,
      'Produce the constant values in an earlier step and use its output.',
    )
  }
}

/** Undefined if the value has no expression: values may be large, and most have none. */
function readParts(
  value: unknown,
  names: Names,
  path: (string | number)[],
  takeFromBudget: ValueBudget,
): Template | undefined {
  if (typeof value === 'string') {
    return hasExpression(value) ? textTemplate(value, names, path.join('.')) : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const read = (item: unknown, key: string | number) => {
    if (typeof item !== 'string' && typeof item !== 'object') return undefined
    path.push(key)
    const part = readParts(item, names, path, takeFromBudget)
    path.pop()
    return part
  }
  return Array.isArray(value)
    ? listTemplate(value, read, takeFromBudget)
    : objectTemplate(value, read, takeFromBudget)
}

type Read = (item: unknown, key: string | number) => Template | undefined

function listTemplate(
  list: readonly unknown[],
  read: Read,
  takeFromBudget: ValueBudget,
): Template | undefined {
  let items: Template[] | undefined
  for (let index = 0; index < list.length; index += 1) {
    const part = read(list[index], index)
    // Everything before this item is constant.
    if (part && !items) {
      takeFromBudget(list.length)
      items = list.slice(0, index).map(asConstant)
    }
    items?.push(part ?? asConstant(list[index]))
  }
  return items && { kind: 'list', items }
}

function objectTemplate(
  object: object,
  read: Read,
  takeFromBudget: ValueBudget,
): Template | undefined {
  const parts = new Map<string, Template>()
  for (const [key, item] of Object.entries(object)) {
    const part = read(item, key)
    if (part) parts.set(key, part)
  }
  if (parts.size === 0) return undefined
  const all = Object.entries(object)
  takeFromBudget(all.length)
  const entries = all.map(([key, item]) => [key, parts.get(key) ?? asConstant(item)] as const)
  return { kind: 'object', entries }
}

function asConstant(value: unknown): Template {
  return { kind: 'constant', value: value as Json }
}

function textTemplate(text: string, names: Names, field: string): Template {
  const parts = readText(text, names, field)
  const [only, more] = parts
  if (typeof only === 'object' && more === undefined)
    return { kind: 'expression', expression: only }
  if (parts.every((part) => typeof part === 'string')) {
    return { kind: 'constant', value: parts.join('') }
  }
  return { kind: 'text', parts }
}

/** Whether any text in the value contains an expression. */
export function mentionsExpression(value: unknown): boolean {
  if (typeof value === 'string') return hasExpression(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(mentionsExpression)
}

/** Counts the expressions of a step and throws beyond the limit. */
export function createExpressionCount() {
  let count = 0
  return {
    reset(): void {
      count = 0
    },
    onExpression(field: string): void {
      count += 1
      if (count <= LIMITS.stepExpressions) return
      const message = `a step has at most ${LIMITS.stepExpressions} expressions`
      throw expressionError(field, message, 'Compute the value in a step and use its output.')
    },
  }
}
