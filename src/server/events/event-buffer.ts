/** A run that changed, as its project may see it. */
export interface Told {
  readonly project: string
  readonly job: string
  readonly data: object
}

/** The latest events, each with a position one can go on from. */
export interface News {
  add(told: Told, event?: RunEvent): void
  /** From here on nothing before is worth anything: look at everything again. */
  reset(why: string): void
  /** Positions given so far lead nowhere any more. */
  forget(): void
  readonly position: string
  /**
   * What came after a position, as far as it is still known. Where it is not, what comes first is a
   * reset, and so it is for a position that was never given.
   */
  after(position: string): { readonly events: readonly NewsItem[]; readonly position: string }
  /** Resolves with the next event, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void>
}

/** It changed; or it only says how far it is. */
export type RunEvent = 'run' | 'run.progress'

export type NewsItem =
  | {
      readonly event: RunEvent
      readonly position: string
      readonly told: Told
      readonly text: string
    }
  | { readonly event: 'reset'; readonly position: string; readonly why: string }

/** At the highest rate this is about ten seconds; usually it is hours. */
const KEPT = 10_000

export function createNews(epoch: string): News {
  let items: NewsItem[] = []
  /** Of the first item kept. */
  let first = 1
  let waiting = new Set<() => void>()

  const positionOf = (number: number) => `${epoch}.${number}`
  const last = () => first + items.length - 1
  const push = (item: NewsItem) => {
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

    add(told, event = 'run') {
      const position = positionOf(last() + 1)
      push({ event, position, told, text: JSON.stringify(told.data) })
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
