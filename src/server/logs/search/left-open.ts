import type { OpenLine } from './scan.ts'

/** Pages whose open lines are kept: at most some 100 KiB each. */
const MOST_PAGES = 64

export interface LeftOpen {
  readonly open: readonly OpenLine[]
  /** Where the next page continues. */
  readonly chunk: number
}

/**
 * Lines that were open when a page ended: they may begin long before the first line of the next
 * page, among lines of the other stream. If they are no longer known, or known to another node, the
 * search starts where the page begins.
 */
export function createLeftOpen() {
  const kept = new Map<string, LeftOpen>()
  return {
    keep(page: readonly unknown[], left: LeftOpen): void {
      const key = JSON.stringify(page)
      kept.delete(key)
      kept.set(key, left)
      const [oldest] = kept.keys()
      if (kept.size > MOST_PAGES && oldest !== undefined) kept.delete(oldest)
    },
    find: (page: readonly unknown[]): LeftOpen | undefined => kept.get(JSON.stringify(page)),
  }
}
