/** A changed run, as its project may see it. */
export interface RunChange {
  readonly project: string
  readonly job: string
  readonly data: object
}

/** The latest events, each with a position from which a reader can continue. */
export interface EventBuffer {
  add(change: RunChange, event?: RunEventName): void
  /** Earlier events are worthless from here on: readers have to read everything again. */
  reset(why: string): void
  /** Invalidates all positions given so far. */
  forget(): void
  readonly position: string
  /**
   * The events after a position, as far as they are kept. For an unknown or too old position the
   * first event is a reset.
   */
  after(position: string): {
    readonly events: readonly StreamedRunEvent[]
    readonly position: string
  }
  /** Resolves with the next event, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void>
}

/** The run changed, or only reports progress. */
export type RunEventName = 'run' | 'run.progress'

export type StreamedRunEvent =
  | {
      readonly event: RunEventName
      readonly position: string
      readonly change: RunChange
      readonly text: string
    }
  | { readonly event: 'reset'; readonly position: string; readonly why: string }

/** About ten seconds at the highest rate; usually hours. */
const KEPT = 10_000

export function createEventBuffer(epoch: string): EventBuffer {
  let items: StreamedRunEvent[] = []
  /** Number of the oldest kept item. */
  let first = 1
  let waiting = new Set<() => void>()

  const positionOf = (number: number) => `${epoch}.${number}`
  const last = () => first + items.length - 1
  const push = (item: StreamedRunEvent) => {
    items.push(item)
    if (items.length >= 2 * KEPT) {
      first += items.length - KEPT
      items = items.slice(-KEPT)
    }
    const woken = waiting
    waiting = new Set()
    for (const wake of woken) wake()
  }
  const numberOf = (position: string) => {
    const at = position.lastIndexOf('.')
    const number = position.slice(0, at) === epoch ? Number(position.slice(at + 1)) : Number.NaN
    return Number.isInteger(number) && number >= first - 1 && number <= last() ? number : undefined
  }

  return {
    get position() {
      return positionOf(last())
    },

    add(change, event = 'run') {
      const position = positionOf(last() + 1)
      push({ event, position, change, text: JSON.stringify(change.data) })
    },

    reset: (why) => push({ event: 'reset', position: positionOf(last() + 1), why }),

    forget() {
      first = last() + 2
      items = []
    },

    after(position) {
      const number = numberOf(position)
      const now = positionOf(last())
      if (number !== undefined) return { events: items.slice(number - first + 1), position: now }
      const why = 'what happened since then is not known'
      return { events: [{ event: 'reset', position: now, why }], position: now }
    },

    next: (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const wake = () => {
          waiting.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        signal.addEventListener('abort', wake)
        waiting.add(wake)
      }),
  }
}
