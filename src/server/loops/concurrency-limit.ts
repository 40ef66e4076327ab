/**
 * Lets so many do something at once and the others wait, in order. Thousands may follow a long log;
 * if all of them were served in the same breath, nobody else would be.
 */
export function createTurns(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let working = 0
  return async (work) => {
    if (working === atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else working += 1
    try {
      return await work()
    } finally {
      // A store that answers at once would otherwise keep everything else waiting.
      await new Promise((resolve) => setImmediate(resolve))
      // Whoever waits longest takes the place over; it is never free in between.
      const next = waiting.shift()
      if (next) next()
      else working -= 1
    }
  }
}
