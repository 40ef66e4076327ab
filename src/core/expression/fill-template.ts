import { LIMITS } from '../limits.ts'
import { evaluate, type Scope } from './evaluate.ts'
import type { Expression, Json, Template } from './expression.ts'
import { asText } from './functions.ts'
import { wrongExpression } from './problem.ts'

/** What a template is once its expressions are known; `write` says how one becomes part of a text. */
export function fill(
  template: Template,
  scope: Scope,
  write: (value: Json) => string = asText,
): Json {
  switch (template.kind) {
    case 'constant':
      return template.value
    case 'expression':
      return evaluate(template.expression, scope)
    case 'text':
      return fillText(template.parts, scope, write)
    case 'list':
      return template.items.map((item) => fill(item, scope, write))
    case 'object':
      return Object.fromEntries(
        template.entries.map(([key, item]) => [key, fill(item, scope, write)]),
      )
  }
}

function fillText(
  parts: readonly (string | Expression)[],
  scope: Scope,
  write: (value: Json) => string,
): string {
  let text = ''
  for (const part of parts) {
    text += typeof part === 'string' ? part : write(evaluate(part, scope))
    if (text.length <= LIMITS.expandedBytes) continue
    const field = parts.find((one) => typeof one === 'object')?.field ?? ''
    throw wrongExpression(field, `the text would have more than ${LIMITS.expandedBytes} characters`)
  }
  return text
}
