import type { Progress } from '../../core/text/markers.ts'
import type { Entry } from '../../core/run/output.ts'
import type { Assignment, Held, LogChunkMessage } from '../../core/wire/protocol.ts'
import { type Bell, createBell } from '../events/wake-up.ts'
import type { Output } from './output.ts'
import type { Said } from './attempt-markers.ts'

/** Characters in one message; each may take six bytes on the wire, and a body holds four million. */
const MESSAGE_LENGTH = 512 * 1024
/** So much of one attempt is not kept waiting for company. */
const URGENT_LENGTH = 32 * 1024

/** An attempt whose output is sent while it is under way. */
export interface Printing {
  readonly assignment: Assignment
  readonly output: Output
  /** What it says about itself, if anybody listens. */
  readonly said?: Said | undefined
  elapsedMs(): number
  /** The server says it is not ours any more. */
  forget(): void
}

export interface Gathered {
  readonly chunks: readonly { attempt: Printing; message: LogChunkMessage }[]
  readonly progress: readonly (Held & Progress)[]
}

/** Attempts that have printed something the server does not know yet. */
export interface Shelf {
  add(attempt: Printing): void
  remove(attempt: Printing): void
  readonly isEmpty: boolean
  /** Rings when something is added, and when something should leave soon. */
  readonly bell: Bell
  isUrgent(): boolean
  /** What fits into one message: chunks of each attempt, one at least, and how far each is. */
  gather(): Gathered
}

export function createShelf(): Shelf {
  const attempts = new Set<Printing>()
  const bell = createBell()

  const isUrgent = ({ output }: Printing) => output.isEnded || output.length >= URGENT_LENGTH

  return {
    bell,
    get isEmpty() {
      return attempts.size === 0
    },
    add(attempt) {
      const isNew = !attempts.has(attempt)
      attempts.add(attempt)
      if (isNew || isUrgent(attempt)) bell.ring()
    },
    remove: (attempt) => void attempts.delete(attempt),
    isUrgent: () => [...attempts].some(isUrgent),

    gather() {
      const gathered: Gathered['chunks'][number][] = []
      const progress: (Held & Progress)[] = []
      let length = 0
      for (const attempt of attempts) {
        const { run, fence } = attempt.assignment
        attempt.output.flush(attempt.elapsedMs())
        const news = attempt.said?.news(attempt.elapsedMs())
        if (news) progress.push({ run, fence, ...news })
        const chunks = attempt.output.next(MESSAGE_LENGTH - length)
        if (chunks.length === 0) {
          // Nothing at the moment; it comes back when it prints again. What it said last goes with its end.
          if (!attempt.said?.isNews || attempt.output.isEnded) attempts.delete(attempt)
        } else {
          const size = lengthOf(chunks)
          if (gathered.length > 0 && length + size > MESSAGE_LENGTH) break
          length += size
          for (const chunk of chunks) {
            gathered.push({ attempt, message: { run, fence, ...chunk } })
          }
        }
      }
      // Whoever was served goes to the end of the line.
      for (const { attempt } of gathered) {
        attempts.delete(attempt)
        attempts.add(attempt)
      }
      return { chunks: gathered, progress }
    },
  }
}

function lengthOf(chunks: readonly { readonly entries: readonly Entry[] }[]): number {
  let length = 0
  for (const { entries } of chunks) for (const [, , text] of entries) length += text.length
  return length
}
