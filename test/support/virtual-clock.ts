import type { Clock } from '../../src/core/clock.ts'

/** Time that passes only when a test says so. */
export interface VirtualClock extends Clock {
  /** Lets `ms` pass: wakes due sleepers one by one, in order, and lets each act before the next. */
  advance(ms: number): Promise<void>
  /** Time passes and nobody notices, as for a stopped process. Who is overdue wakes at the next advance. */
  freeze(ms: number): void
  /** Sets the wall clock forward or back, as an administrator might. Nothing else notices. */
  jumpWall(ms: number): void
  /** Sleepers that still wait: a test that ends with some may have left something running. */
  sleeping(): number
}

interface Sleeper {
  readonly dueMono: number
  readonly wake: () => void
}

/** How many turns of the event loop a chain of promises may need to come to rest. */
const TURNS = 24

export function createVirtualClock(startAt = Date.UTC(2026, 0, 1)): VirtualClock {
  // Insertion order breaks ties, which keeps every test the same each time.
  const sleepers = new Set<Sleeper>()
  let mono = 0
  let wall = startAt

  const nextDue = (untilMono: number) => {
    let next: Sleeper | undefined
    for (const sleeper of sleepers) {
      if (sleeper.dueMono <= untilMono && !(next && next.dueMono <= sleeper.dueMono)) next = sleeper
    }
    return next
  }
  const passTo = (nextMono: number) => {
    wall += nextMono - mono
    mono = nextMono
  }

  return {
    now: () => wall,
    mono: () => mono,

    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const wake = () => {
          sleepers.delete(sleeper)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        const sleeper: Sleeper = { dueMono: mono + Math.max(0, ms), wake }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', wake)
      })
    },

    async advance(ms) {
      const untilMono = mono + ms
      await settle()
      for (let next = nextDue(untilMono); next; next = nextDue(untilMono)) {
        passTo(Math.max(mono, next.dueMono))
        next.wake()
        await settle()
      }
      passTo(Math.max(mono, untilMono))
    },

    freeze: (ms) => passTo(mono + ms),

    jumpWall(ms) {
      wall += ms
    },

    sleeping: () => sleepers.size,
  }
}

/** Lets everything that can go on without time passing go on. */
export async function settle(turns = TURNS): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}
