import type { Progress } from '../../core/text/markers.ts'
import type { OutputEntry } from '../../core/run/output.ts'
import type { Assignment, LeasedAttempt, LogChunkMessage } from '../../core/wire/protocol.ts'
import { type WakeUp, createWakeUp } from '../events/wake-up.ts'
import type { Output } from './output.ts'
import type { AttemptMarkers } from './attempt-markers.ts'

/** Copies the output to the worker's terminal. */
export type Echo = (assignment: Assignment, stream: 1 | 2, bytes: Buffer) => void

/** Characters per message; each may take six bytes on the wire, and a body holds four million. */
const MESSAGE_LENGTH = 512 * 1024
/** An attempt with this much output is sent without waiting for others. */
const URGENT_LENGTH = 32 * 1024

/** An attempt whose output is sent while it runs. */
export interface OutputSource {
  readonly assignment: Assignment
  readonly output: Output
  /** The markers in its output, if they are read. */
  readonly markers?: AttemptMarkers | undefined
  elapsedMs(): number
  /** The server says that the attempt no longer belongs to this worker. */
  forget(): void
}

export interface OutputBatch {
  readonly chunks: readonly { attempt: OutputSource; message: LogChunkMessage }[]
  readonly progress: readonly (LeasedAttempt & Progress)[]
}

/** The attempts with output that the server does not have yet. */
export interface OutputBuffer {
  add(attempt: OutputSource): void
  remove(attempt: OutputSource): void
  readonly isEmpty: boolean
  /** Notified when an attempt is added, and when output should be sent soon. */
  readonly wakeUp: WakeUp
  isUrgent(): boolean
  /** The content of the next message: chunks of each attempt, at least one, and progress. */
  nextBatch(): OutputBatch
}

export function createOutputBuffer(): OutputBuffer {
  const attempts = new Set<OutputSource>()
  const wakeUp = createWakeUp()

  const isUrgent = ({ output }: OutputSource) => output.isEnded || output.length >= URGENT_LENGTH

  return {
    wakeUp: wakeUp,
    get isEmpty() {
      return attempts.size === 0
    },
    add(attempt) {
      const isNew = !attempts.has(attempt)
      attempts.add(attempt)
      if (isNew || isUrgent(attempt)) wakeUp.notify()
    },
    remove: (attempt) => void attempts.delete(attempt),
    isUrgent: () => [...attempts].some(isUrgent),

    nextBatch() {
      const batch: OutputBatch['chunks'][number][] = []
      const progress: (LeasedAttempt & Progress)[] = []
      let length = 0
      for (const attempt of attempts) {
        const { run, fence } = attempt.assignment
        attempt.output.flush(attempt.elapsedMs())
        const progressNow = attempt.markers?.nextProgress(attempt.elapsedMs())
        if (progressNow) progress.push({ run, fence, ...progressNow })
        const chunks = attempt.output.next(MESSAGE_LENGTH - length)
        if (chunks.length === 0) {
          // Nothing to send now; the attempt is added again when it prints. Its last progress is
          // sent with its end.
          if (!attempt.markers?.hasUnsentProgress || attempt.output.isEnded)
            attempts.delete(attempt)
        } else {
          const size = lengthOf(chunks)
          if (batch.length > 0 && length + size > MESSAGE_LENGTH) break
          length += size
          for (const chunk of chunks) {
            batch.push({ attempt, message: { run, fence, ...chunk } })
          }
        }
      }
      // Round robin: attempts that were sent go to the back.
      for (const { attempt } of batch) {
        attempts.delete(attempt)
        attempts.add(attempt)
      }
      return { chunks: batch, progress }
    },
  }
}

function lengthOf(chunks: readonly { readonly entries: readonly OutputEntry[] }[]): number {
  let length = 0
  for (const { entries } of chunks) for (const [, , text] of entries) length += text.length
  return length
}
