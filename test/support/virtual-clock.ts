import type { Clock } from '../../src/core/clock.ts'

/** A clock that advances only when a test says so. */
export interface VirtualClock extends Clock {
  /** Lets `ms` pass: wakes due sleepers one by one, in order, and lets each run before the next. */
  advance(ms: number): Promise<void>
  /** Lets time pass without waking sleepers, as for a stopped process. Overdue sleepers wake at the next advance. */
  freeze(ms: number): void
  /** Sets the wall clock forward or back, as an administrator might. Nothing else changes. */
  jumpWall(ms: number): void
  /** Number of waiting sleepers: a test that ends with some may have left something running. */
  sleeping(): number
}

interface Sleeper {
  readonly dueMono: number
  readonly wake: () => void
}

/** Event loop turns that a chain of promises may need to settle. */
const TURNS = 24

export function createVirtualClock(startAt = Date.UTC(2026, 0, 1)): VirtualClock {
  // Insertion order breaks ties, which keeps every test deterministic.
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
      await flushTasks()
      for (let next = nextDue(untilMono); next; next = nextDue(untilMono)) {
        passTo(Math.max(mono, next.dueMono))
        next.wake()
        await flushTasks()
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

/** Lets everything run that does not need time to pass. */
export async function flushTasks(turns = TURNS): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}
