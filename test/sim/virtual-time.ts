import type { Clock } from '../../src/core/clock.ts'
import type { Seeded } from './seeded.ts'

/** A simulated process: it can die, freeze, and has its own wall clock. */
export interface Actor {
  readonly name: string
  isAlive: boolean
  frozenUntilMs: number
  wallSkewMs: number
}

export interface VirtualTime {
  readonly nowMs: number
  actor(name: string): Actor
  clockOf(actor: Actor): Clock
  /** Runs `action` in the actor after `ms`: later if it is frozen then, never if it is dead. */
  after(actor: Actor, ms: number, action: () => void): void
  /** Lets `ms` pass: runs every due event in order, each to its end. */
  advance(ms: number): Promise<void>
}

interface Event {
  readonly atMs: number
  /** Random order among events of the same millisecond. */
  readonly tie: number
  readonly actor: Actor
  readonly action: () => void
}

const WALL_START_MS = Date.UTC(2026, 0, 1)

export function createVirtualTime(seeded: Seeded): VirtualTime {
  const queue = createHeap()
  let nowMs = 0

  const time: VirtualTime = {
    get nowMs() {
      return nowMs
    },

    actor: (name) => ({ name, isAlive: true, frozenUntilMs: 0, wallSkewMs: 0 }),

    clockOf: (actor) => ({
      now: () => Math.floor(WALL_START_MS + nowMs + actor.wallSkewMs),
      mono: () => nowMs,
      sleep(ms, signal) {
        return new Promise((resolve) => {
          if (signal?.aborted) return resolve()
          signal?.addEventListener('abort', () => resolve(), { once: true })
          if (Number.isFinite(ms)) time.after(actor, ms, resolve)
        })
      },
    }),

    after(actor, ms, action) {
      queue.push({ atMs: nowMs + Math.max(0, ms), tie: seeded.random(), actor, action })
    },

    async advance(ms) {
      const untilMs = nowMs + ms
      for (let event = queue.pop(untilMs); event; event = queue.pop(untilMs)) {
        nowMs = Math.max(nowMs, event.atMs)
        const { actor } = event
        if (!actor.isAlive) continue
        if (actor.frozenUntilMs > nowMs) {
          queue.push({ ...event, atMs: actor.frozenUntilMs })
          continue
        }
        event.action()
        await settle()
      }
      nowMs = untilMs
      await settle()
    },
  }
  return time
}

/** Resolves when everything that needs no time has run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function createHeap() {
  const heap: Event[] = []
  const isBefore = (a: Event, b: Event) => a.atMs < b.atMs || (a.atMs === b.atMs && a.tie < b.tie)
  const at = (index: number) => heap[index] as Event
  const swap = (a: number, b: number) => {
    const kept = at(a)
    heap[a] = at(b)
    heap[b] = kept
  }
  return {
    push(event: Event) {
      heap.push(event)
      for (let i = heap.length - 1; i > 0;) {
        const parent = (i - 1) >> 1
        if (!isBefore(at(i), at(parent))) break
        swap(i, parent)
        i = parent
      }
    },
    /** The earliest event, if it is due by `untilMs`. */
    pop(untilMs: number): Event | undefined {
      const first = heap[0]
      if (!first || first.atMs > untilMs) return undefined
      const last = heap.pop() as Event
      if (heap.length === 0) return first
      heap[0] = last
      for (let i = 0; ;) {
        let least = i
        for (const child of [2 * i + 1, 2 * i + 2]) {
          if (child < heap.length && isBefore(at(child), at(least))) least = child
        }
        if (least === i) break
        swap(i, least)
        i = least
      }
      return first
    },
  }
}
