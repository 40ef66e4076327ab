/**
 * Limits how many tasks run at once; the others wait in order. Thousands may follow a long log, and
 * serving all of them at the same time would block everything else.
 */
export function createConcurrencyLimit(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let working = 0
  return async (work) => {
    if (working === atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else working += 1
    try {
      return await work()
    } finally {
      // A store that answers at once would otherwise block everything else.
      await new Promise((resolve) => setImmediate(resolve))
      // The longest waiting task takes the slot over; it is never free in between.
      const next = waiting.shift()
      if (next) next()
      else working -= 1
    }
  }
}
