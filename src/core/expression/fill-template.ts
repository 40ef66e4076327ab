import { LIMITS } from '../limits.ts'
import { evaluate, type Scope } from './evaluate.ts'
import type { Expression, Json, Template } from './expression.ts'
import { asText } from './functions.ts'
import { expressionError } from './expression-error.ts'

/** The value of a template after its expressions are evaluated. */
export function fill(template: Template, scope: Scope): Json {
  return fillWith(template, { valueOf: (expression) => evaluate(expression, scope), write: asText })
}

export interface Filling {
  valueOf(expression: Expression): Json
  /** How a value is written into a text. */
  write(value: Json): string
}

export function fillWith(template: Template, filling: Filling): Json {
  switch (template.kind) {
    case 'constant':
      return template.value
    case 'expression':
      return filling.valueOf(template.expression)
    case 'text':
      return fillText(template.parts, filling)
    case 'list':
      return template.items.map((item) => fillWith(item, filling))
    case 'object':
      return Object.fromEntries(
        template.entries.map(([key, item]) => [key, fillWith(item, filling)]),
      )
  }
}

function fillText(parts: readonly (string | Expression)[], { valueOf, write }: Filling): string {
  let text = ''
  for (const part of parts) {
    text += typeof part === 'string' ? part : write(valueOf(part))
    if (text.length <= LIMITS.expandedBytes) continue
    const field = parts.find((one) => typeof one === 'object')?.field ?? ''
    throw expressionError(field, `the text would have more than ${LIMITS.expandedBytes} characters`)
  }
  return text
}
