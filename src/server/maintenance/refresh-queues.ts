import type { QueueBook } from '../dispatch/queue-settings-cache.ts'
import type { LaneBoard } from '../dispatch/lane-index.ts'
import type { Step } from '../loops/run-loop.ts'

/** Learns what was said about queues, here or at another node, and lets lanes rest or go on. */
export function refreshQueues(deps: { book: QueueBook; board: LaneBoard; kick: () => void }): Step {
  const { book, board, kick } = deps
  let followed: string | null = null
  return async () => {
    await book.refresh()
    // Others read the book as well: what counts is which rules the board has been told.
    if (book.rules !== followed) {
      followed = book.rules
      board.follow(book.rulesOf)
      kick()
    }
    return { more: false }
  }
}
