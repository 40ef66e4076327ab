import type { News } from './port.ts'

const KINDS = ['step', 'cancel', 'need', 'followed'] as const satisfies readonly News['kind'][]

/** The order in which both stores tell the same news, each once. */
export function inOrder(news: readonly News[]): News[] {
  if (news.length < 2) return [...news]
  const byName = new Map(news.map((one) => [placeOf(one).join(), one]))
  return [...byName.values()].sort((a, b) => compare(placeOf(a), placeOf(b)))
}

function placeOf(one: News): number[] {
  const kind = KINDS.indexOf(one.kind)
  switch (one.kind) {
    case 'step':
      return [kind, one.flowId, one.step, one.item]
    case 'cancel':
      return [kind, one.flowId]
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
