import type { OpenLine } from './scan.ts'

/** Pages whose open lines are remembered: some 100 KiB each, at most. */
const MOST_PAGES = 64

export interface Left {
  readonly open: readonly OpenLine[]
  /** Where to go on. */
  readonly chunk: number
}

/**
 * Lines that were open when a page ended: they began long before the line that the next page begins with,
 * among lines of the other stream. What is forgotten, or known to another node, is searched from where
 * the page begins.
 */
export function createLeftOpen() {
  const kept = new Map<string, Left>()
  return {
    keep(page: readonly unknown[], left: Left): void {
      const key = JSON.stringify(page)
      kept.delete(key)
      kept.set(key, left)
      const [oldest] = kept.keys()
      if (kept.size > MOST_PAGES && oldest !== undefined) kept.delete(oldest)
    },
    find: (page: readonly unknown[]): Left | undefined => kept.get(JSON.stringify(page)),
  }
}
