import type { Names } from '../../expression/check.ts'
import type { Expression, Node } from '../../expression/expression.ts'
import { expressionError } from '../../expression/expression-error.ts'
import { hasExpression, readText } from '../../expression/read-template.ts'

/** Values of secrets are never part of an evaluation; these functions only find where a secret is requested. */

/** The secret that a variable refers to, if any: the run then requests it under that name. */
export function secretOfVariable(
  variable: string,
  text: string,
  names: Names,
  field: string,
): string | undefined {
  const secrets = secretsIn(text, names, field)
  const [expression] = secrets
  if (!expression) return undefined
  const isWhole = secrets.length === 1 && text.trim() === expression.text
  if (!isWhole || expression.root.kind !== 'secret') {
    const hint = 'Combine the values in the command.'
    throw expressionError(field, 'a secret must be the whole value of its variable', hint)
  }
  const { name } = expression.root
  if (name === variable) return name
  const hint = `Write ${name}: \${{ secrets.${name} }}, or secrets: [${name}].`
  throw expressionError(field, `a secret is given under its own name, ${name}`, hint)
}

/** Workers insert secrets into request headers and bodies where `${NAME}` stands. */
export function secretsOfRequest(text: string, names: Names, field: string) {
  const found: string[] = []
  let written = text
  for (const { root, text: whole } of secretsIn(text, names, field)) {
    if (root.kind !== 'secret') {
      throw expressionError(
        field,
        'a secret can be used here only as it is, without operators or functions',
      )
    }
    found.push(root.name)
    written = written.replace(whole, () => `\${${root.name}}`)
  }
  return { text: written, secrets: found }
}

function secretsIn(text: string, names: Names, field: string): Expression[] {
  if (!hasExpression(text) || !text.includes('secrets')) return []
  const parts = readText(text, { ...names, maySecrets: true }, field)
  return parts.filter((part) => typeof part === 'object').filter(({ root }) => mentionsSecret(root))
}

function mentionsSecret(node: Node): boolean {
  switch (node.kind) {
    case 'secret':
      return true
    case 'path':
      return mentionsSecret(node.of) || node.keys.some(mentionsSecret)
    case 'not':
      return mentionsSecret(node.of)
    case 'all':
    case 'any':
      return node.of.some(mentionsSecret)
    case 'compare':
      return mentionsSecret(node.left) || mentionsSecret(node.right)
    case 'call':
      return node.given.some(mentionsSecret)
    default:
      return false
  }
}
