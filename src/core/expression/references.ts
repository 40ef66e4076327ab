import type { AfterFact, Expression, Node, Template } from './expression.ts'

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
  visit(root, (node) => {
    if (node.kind === 'step') names.add(node.step)
  })
  return [...names]
}

/** Those of them whose outputs are asked for, rather than only how they went. */
export function outputsIn(root: Node): readonly string[] {
  const names = new Set<string>()
  visit(root, (node) => {
    if (node.kind === 'step' && node.fact === 'output') names.add(node.step)
  })
  return [...names]
}

/** What a template asks of the run that is followed. */
export function afterFactsIn(template: Template): ReadonlySet<AfterFact> {
  const facts = new Set<AfterFact>()
  for (const { root } of expressionsIn(template)) {
    visit(root, (node) => {
      if (node.kind === 'after') facts.add(node.fact)
    })
  }
  return facts
}

function visit(root: Node, see: (node: Node) => void): void {
  const walk = (node: Node): void => {
    see(node)
    if (node.kind === 'path') [node.of, ...node.keys].forEach(walk)
    if (node.kind === 'not') walk(node.of)
    if (node.kind === 'all' || node.kind === 'any') node.of.forEach(walk)
    if (node.kind === 'compare') [node.left, node.right].forEach(walk)
    if (node.kind === 'call') node.given.forEach(walk)
  }
  walk(root)
}
