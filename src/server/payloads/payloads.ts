import { type Blobs, BlobError } from '../../blobs/port.ts'
import { type Clock, type Random, randomInt } from '../../core/clock.ts'
import { publicId } from '../../core/ids.ts'
import { blobProblem } from './blob-problem.ts'
import { createConcurrencyLimit } from '../loops/concurrency-limit.ts'
import {
  blobLabelOf,
  mayBeReference,
  type PayloadKind,
  readReference,
  writeReference,
} from './reference.ts'

/** Stores inputs and results that are too large for a row as blobs. */
export interface Payloads {
  /** Whether this text is too large for a row. */
  isLarge(text: string | null | undefined): text is string
  /** Stores the blob. Durable when it resolves; from then on the row may contain `text`. */
  keep(runId: number, kind: PayloadKind, text: string): Promise<KeptPayload>
  /** The text itself, from the row or the blob. */
  read(runId: number, kind: PayloadKind, text: string): Promise<string>
}

export interface KeptPayload {
  /** The text for the row. */
  readonly text: string
  /**
   * Called once the row is committed. If the commit took so long that the blob may count as an
   * orphan, because the process was suspended in between, the blob is written again.
   */
  settle(): Promise<void>
}

export interface PayloadOptions {
  readonly blobs: Blobs
  readonly clock: Clock
  readonly random: Random
  /** The area in the blob store that belongs to this installation. */
  readonly area: string
  readonly inlineBytes: number
  /** After this time a blob without a reference is an orphan. */
  readonly orphanMs: number
}

const NONCES = 2 ** 32

export function createPayloads(options: PayloadOptions): Payloads {
  const { blobs, clock, random, area, inlineBytes } = options
  const safeMs = options.orphanMs / 2

  return {
    isLarge(text): text is string {
      // UTF-8 needs at most three bytes per code unit: this shows for nearly all texts that they
      // are short enough.
      if (text === null || text === undefined || text.length * 3 <= inlineBytes) return false
      return Buffer.byteLength(text) > inlineBytes
    },

    async keep(runId, kind, text) {
      const bytes = Buffer.from(text)
      // Always a new name, so that a blob about to be collected can never be needed again.
      const label = blobLabelOf(runId, kind, randomInt(random, NONCES))
      const put = () =>
        blobs.put({ area, label }, bytes).catch((error: unknown) => {
          throw blobProblem(error, kind)
        })
      const { since } = stopwatch(clock)
      const key = await put()
      const name = key.slice(area.length + 1)
      return {
        text: writeReference({ bytes: bytes.length, name }),
        async settle() {
          if (since() >= safeMs) await put()
        },
      }
    },

    async read(runId, kind, text) {
      const reference = readReference(runId, text)
      if (!reference) return text
      const what = `${kind} of ${publicId('run', runId)}`
      try {
        const bytes = await blobs.get(`${area}/${reference.name}`)
        return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
      } catch (error) {
        throw error instanceof BlobError ? blobProblem(error, what) : error
      }
    },
  }
}

/** Blobs that are read at once for users. */
const READS_FOR_USERS = 2

/** The same payloads for users, whose reads of blobs never queue up before those of workers. */
export function payloadsForUsers(payloads: Payloads): Payloads {
  const takeTurn = createConcurrencyLimit(READS_FOR_USERS)
  return {
    ...payloads,
    async read(runId, kind, text) {
      if (!mayBeReference(text)) return text
      return takeTurn(() => payloads.read(runId, kind, text))
    },
  }
}

/**
 * By both clocks: the monotonic one may stop while the machine sleeps, the wall clock may be set.
 */
function stopwatch({ mono, now }: Clock) {
  const [startMono, startNow] = [mono(), now()]
  return { since: () => Math.max(mono() - startMono, now() - startNow) }
}
