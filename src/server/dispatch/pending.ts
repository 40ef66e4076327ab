import type { PunctualError } from '../../core/errors.ts'
import type {
  CancelCommand,
  CancelVerdict,
  EndCommand,
  EndVerdict,
  NewRun,
} from '../../store/port.ts'

/** One item waiting for a tick, and the place where its answer goes. */
export interface Entry<Item, Answer> {
  item: Item
  readonly group: Group<Answer>
  readonly index: number
  /** Given up with `store_unavailable` after this; Infinity for work that nobody may forget. */
  readonly deadlineMono: number
  /** The node incarnation it was made under: ids minted by one mean nothing to the next. */
  incarnation: number
  /** Sent at least once with an unknown outcome: it may be in the store already. */
  tried: boolean
}

export interface Submitted {
  readonly id: number
  readonly created: boolean
}

export type SubmitEntry = Entry<NewRun, Submitted | PunctualError>
export type EndEntry = Entry<EndCommand, EndVerdict | PunctualError>
export type CancelEntry = Entry<CancelCommand, CancelVerdict | PunctualError>

/** Items that came in together and are answered together, whatever ticks they travel in. */
export interface Group<Answer> {
  readonly answers: Answer[]
  left: number
  readonly resolve: (answers: Answer[]) => void
}

export function answer<Answer>(entry: Entry<unknown, Answer>, value: Answer): void {
  const { group } = entry
  group.answers[entry.index] = value
  group.left -= 1
  if (group.left === 0) group.resolve(group.answers)
}

/** First in, first out, without shifting arrays: what a tick takes is cut off the front. */
export interface Inbox<Item, Answer> {
  readonly size: number
  add(
    items: readonly Item[],
    terms: { deadlineMono: number; incarnation: number },
  ): Promise<Answer[]>
  take(limit: number): Entry<Item, Answer>[]
  /** Back to the front, in order, after a tick that did not happen. */
  restore(entries: readonly Entry<Item, Answer>[]): void
}

export function createInbox<Item, Answer>(): Inbox<Item, Answer> {
  let entries: Entry<Item, Answer>[] = []
  let head = 0
  return {
    get size() {
      return entries.length - head
    },

    add(items, terms) {
      if (items.length === 0) return Promise.resolve([])
      return new Promise((resolve) => {
        const group: Group<Answer> = {
          answers: new Array(items.length),
          left: items.length,
          resolve,
        }
        const { deadlineMono, incarnation } = terms
        for (let index = 0; index < items.length; index += 1) {
          const item = items[index] as Item
          entries.push({ item, group, index, deadlineMono, incarnation, tried: false })
        }
      })
    },

    take(limit) {
      const taken = entries.slice(head, head + limit)
      head += taken.length
      if (head >= entries.length) {
        entries = []
        head = 0
      } else if (head > 10_000) {
        entries = entries.slice(head)
        head = 0
      }
      return taken
    },

    restore(returned) {
      entries = [...returned, ...entries.slice(head)]
      head = 0
    },
  }
}
