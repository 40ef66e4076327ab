import type { Names } from '../../expression/check.ts'
import type { Json, Template } from '../../expression/expression.ts'
import { expressionError } from '../../expression/expression-error.ts'
import { hasExpression, readTemplate } from '../../expression/read-template.ts'
import type { Placeholder } from '../workflow.ts'

/** Collects the expressions of a submission and replaces them with samples. */
export interface Placeholders {
  readonly found: readonly Placeholder[]
  /** The text, or a sample if the text contains expressions. */
  text(text: string, where: Where): string
  /** The same for any value. */
  value(value: unknown, where: Where): unknown
  add(placeholder: Placeholder): void
}

interface Where {
  readonly path: Placeholder['path']
  readonly field: string
  readonly names: Names
  readonly as?: Placeholder['as']
  /** The beginning of the sample, if the text begins with an expression. */
  readonly lead?: string
}

export function createPlaceholders(): Placeholders {
  const found: Placeholder[] = []
  return {
    found,
    add: (placeholder) => void found.push(placeholder),
    text(text, { path, field, names, as = 'text', lead = 'x' }) {
      if (!hasExpression(text)) return text
      const template = readTemplate(text, names, field)
      if (template.kind === 'constant') return template.value as string
      found.push({ path, template, as })
      return sampleOf(template, lead)
    },
    value(value, { path, field, names }) {
      const template = readTemplate(value, names, field)
      if (template.kind === 'constant') return template.value
      found.push({ path, template, as: 'value' })
      return null
    },
  }
}

function sampleOf(template: Template, lead: string): string {
  if (template.kind !== 'text') return lead
  return template.parts
    .map((part, nth) => (typeof part === 'string' ? part : nth === 0 ? lead : 'x'))
    .join('')
}

/** Rejects expressions in fields that are used before expressions are evaluated. */
export function refuseExpressions(value: unknown, field: string): void {
  if (typeof value === 'string' && hasExpression(value)) {
    const hint =
      'They are allowed in run, script, argv, env, stdin, cwd, with, and the fields of http.'
    throw expressionError(field, 'an expression is not allowed here', hint)
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value))
    refuseExpressions(inner as Json, `${field}.${key}`)
}
