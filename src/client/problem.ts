import type { WireProblem } from '../core/wire/runs.ts'

/** Other programs send errors too, such as a proxy whose backend is away. */
export function isProblem(answer: unknown): answer is WireProblem {
  const { code, detail } = (answer ?? {}) as Partial<WireProblem>
  return typeof code === 'string' && typeof detail === 'string'
}
