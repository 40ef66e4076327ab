import type { Expression, Node, Template } from './expression.ts'

/** Every expression of a template. */
export function expressionsIn(template: Template): readonly Expression[] {
  switch (template.kind) {
    case 'constant':
      return []
    case 'expression':
      return [template.expression]
    case 'text':
      return template.parts.filter((part) => typeof part === 'object')
    case 'list':
      return template.items.flatMap(expressionsIn)
    case 'object':
      return template.entries.flatMap(([, item]) => expressionsIn(item))
  }
}

/** The steps that are named below a node. */
export function stepsIn(root: Node): readonly string[] {
  const names = new Set<string>()
  const walk = (node: Node): void => {
    if (node.kind === 'step') names.add(node.step)
    if (node.kind === 'path') [node.of, ...node.keys].forEach(walk)
    if (node.kind === 'not') walk(node.of)
    if (node.kind === 'all' || node.kind === 'any') node.of.forEach(walk)
    if (node.kind === 'compare') [node.left, node.right].forEach(walk)
    if (node.kind === 'call') node.given.forEach(walk)
  }
  walk(root)
  return [...names]
}
