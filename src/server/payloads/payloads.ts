import { type Blobs, BlobError } from '../../blobs/port.ts'
import { type Clock, type Random, randomInt } from '../../core/clock.ts'
import { publicId } from '../../core/ids.ts'
import { blobProblem } from './blob-problem.ts'
import { labelOf, type PayloadKind, readReference, writeReference } from './reference.ts'

/** Inputs and results that are too large for a row, and the blobs they are kept in. */
export interface Payloads {
  /** Whether this text is too large for a row. */
  isLarge(text: string | null | undefined): text is string
  /** Durable when it resolves; the row may say `text` from then on. */
  keep(runId: number, kind: PayloadKind, text: string): Promise<KeptPayload>
  /** The text itself, wherever it is. */
  read(runId: number, kind: PayloadKind, text: string): Promise<string>
}

export interface KeptPayload {
  /** What the row says. */
  readonly text: string
  /**
   * To be called once the row is committed. Should the commit have taken so long that the blob may
   * count as an orphan, because the process was stopped in between, it is written again.
   */
  settle(): Promise<void>
}

export interface PayloadOptions {
  readonly blobs: Blobs
  readonly clock: Clock
  readonly random: Random
  /** Whose blobs these are among all that are kept there. */
  readonly area: string
  readonly inlineBytes: number
  /** After this, a blob that no row names is an orphan. */
  readonly orphanMs: number
}

const NONCES = 2 ** 32

export function createPayloads(options: PayloadOptions): Payloads {
  const { blobs, clock, random, area, inlineBytes } = options
  const surelySafeMs = options.orphanMs / 2

  return {
    isLarge(text): text is string {
      // Three bytes for a unit is the most that UTF-8 needs: nearly all are known to be short enough.
      if (text === null || text === undefined || text.length * 3 <= inlineBytes) return false
      return Buffer.byteLength(text) > inlineBytes
    },

    async keep(runId, kind, text) {
      const bytes = Buffer.from(text)
      // Never a name that was there before: what is about to be collected can then not be needed again.
      const label = labelOf(runId, kind, randomInt(random, NONCES))
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
          if (since() >= surelySafeMs) await put()
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

/** By both clocks: one may stand still while the machine sleeps, the other may be set. */
function stopwatch({ mono, now }: Clock) {
  const [startMono, startNow] = [mono(), now()]
  return { since: () => Math.max(mono() - startMono, now() - startNow) }
}
