import type { AfterFact, Expression, Node, Template } from './expression.ts'

/** All expressions of a template. */
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

/** The steps referenced below a node. */
export function stepsIn(root: Node): readonly string[] {
  const names = new Set<string>()
  visit(root, (node) => {
    if (node.kind === 'step') names.add(node.step)
  })
  return [...names]
}

/** The referenced steps whose output is used, not only their state. */
export function outputsIn(root: Node): readonly string[] {
  const names = new Set<string>()
  visit(root, (node) => {
    if (node.kind === 'step' && node.fact === 'output') names.add(node.step)
  })
  return [...names]
}

/** The facts that a template uses about the run that triggered this one. */
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
