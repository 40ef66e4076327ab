import type { Signal } from './port.ts'

const KINDS = ['step', 'cancel', 'need', 'followed'] as const satisfies readonly Signal['kind'][]

/** The order in which both stores report the same signals, without duplicates. */
export function sortSignals(news: readonly Signal[]): Signal[] {
  if (news.length < 2) return [...news]
  const byName = new Map(news.map((one) => [sortKeyOf(one).join(), one]))
  return [...byName.values()].sort((a, b) => compare(sortKeyOf(a), sortKeyOf(b)))
}

function sortKeyOf(one: Signal): number[] {
  const kind = KINDS.indexOf(one.kind)
  switch (one.kind) {
    case 'step':
      return [kind, one.workflowId, one.step, one.item]
    case 'cancel':
      return [kind, one.workflowId]
    case 'need':
    case 'followed':
      return [kind, one.runId]
  }
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, one] of a.entries()) {
    const difference = one - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
