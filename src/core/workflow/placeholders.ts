import type { Names } from '../expression/check.ts'
import type { Json, Template } from '../expression/expression.ts'
import { wrongExpression } from '../expression/expression-error.ts'
import { hasExpression, readTemplate } from '../expression/read-template.ts'
import type { Hole } from './workflow.ts'

/** Gathers the expressions of a submission, and leaves samples in their places. */
export interface Holes {
  readonly found: readonly Hole[]
  /** The text, or a sample of it if it has to wait for its expressions. */
  text(text: string, where: Where): string
  /** The same for any value. */
  value(value: unknown, where: Where): unknown
  add(hole: Hole): void
}

interface Where {
  readonly path: Hole['path']
  readonly field: string
  readonly names: Names
  readonly as?: Hole['as']
  /** What a sample begins with, if the text begins with an expression. */
  readonly lead?: string
}

export function createHoles(): Holes {
  const found: Hole[] = []
  return {
    found,
    add: (hole) => void found.push(hole),
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

/** In what is decided before anything is evaluated, an expression could only be taken literally. */
export function refuseExpressions(value: unknown, field: string): void {
  if (typeof value === 'string' && hasExpression(value)) {
    const hint =
      'They may stand in run, script, argv, env, stdin, cwd, with, and the fields of http.'
    throw wrongExpression(field, 'no expression can stand here', hint)
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value))
    refuseExpressions(inner as Json, `${field}.${key}`)
}
