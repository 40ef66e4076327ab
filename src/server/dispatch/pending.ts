import type { PunctualError } from '../../core/errors.ts'
import type {
  CancelCommand,
  CancelVerdict,
  EndCommand,
  EndVerdict,
  Lease,
  NewRun,
} from '../../store/port.ts'

/** An item waiting for a tick, and where its answer goes. */
export interface PendingEntry<Item, Answer> {
  item: Item
  readonly group: AnswerGroup<Answer>
  readonly index: number
  /** After this it fails with `store_unavailable`; Infinity for work that must not be dropped. */
  readonly deadlineMono: number
  /** The node incarnation it was made under: ids minted by one mean nothing to the next. */
  incarnation: number
  /** Sent at least once with an unknown outcome: the store may have it already. */
  tried: boolean
}

export interface Submitted {
  readonly id: number
  readonly created: boolean
}

export type SubmitEntry = PendingEntry<NewRun, Submitted | PunctualError>
export type EndEntry = PendingEntry<EndCommand, EndVerdict | PunctualError>
export type CancelEntry = PendingEntry<CancelCommand, CancelVerdict | PunctualError>

/** Items that came in together and are answered together, whichever ticks carry them. */
export interface AnswerGroup<Answer> {
  readonly answers: Answer[]
  left: number
  /** Of ended attempts: their leases, which the session index may no longer have. By index. */
  readonly leases: readonly Lease[] | undefined
  readonly resolve: (answers: Answer[]) => void
}

export function answerEntry<Answer>(entry: PendingEntry<unknown, Answer>, value: Answer): void {
  const { group } = entry
  group.answers[entry.index] = value
  group.left -= 1
  if (group.left === 0) group.resolve(group.answers)
}

/** First in, first out, without shifting arrays: a tick takes a slice from the front. */
export interface Inbox<Item, Answer> {
  readonly size: number
  add(
    items: readonly Item[],
    terms: { deadlineMono: number; incarnation: number; leases?: readonly Lease[] | undefined },
  ): Promise<Answer[]>
  take(limit: number): PendingEntry<Item, Answer>[]
  /** Puts entries back to the front, in order, after a tick that did not happen. */
  restore(entries: readonly PendingEntry<Item, Answer>[]): void
}

export function createInbox<Item, Answer>(): Inbox<Item, Answer> {
  let entries: PendingEntry<Item, Answer>[] = []
  let head = 0
  return {
    get size() {
      return entries.length - head
    },

    add(items, terms) {
      if (items.length === 0) return Promise.resolve([])
      return new Promise((resolve) => {
        const group: AnswerGroup<Answer> = {
          answers: new Array(items.length),
          left: items.length,
          leases: terms.leases,
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
