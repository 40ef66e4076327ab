import type { OutputMarker, Progress } from '../../core/text/markers.ts'
import { capMessage } from './cap-message.ts'

/** Minimum time between progress messages of one attempt. */
const PROGRESS_INTERVAL_MS = 1_000

/** The markers in an attempt's output: its latest progress and its first error. */
export class AttemptMarkers {
  #progress: (Progress & { readonly ms: number }) | undefined
  #error: string | undefined
  #hasUnsent = false
  #sentMs = Number.NEGATIVE_INFINITY

  /** Returns true if there is new progress to send. */
  record(mark: OutputMarker, ms: number): boolean {
    if (mark.kind === 'error') this.#error ??= capMessage(mark.text)
    if (mark.kind !== 'progress') return false
    const message = capMessage(mark.text)
    this.#progress = { fraction: mark.fraction, message, ms: Math.max(0, Math.round(ms)) }
    const hadUnsent = this.#hasUnsent
    this.#hasUnsent = true
    return !hadUnsent
  }

  /** The first error that it reported. */
  get error(): string | undefined {
    return this.#error || undefined
  }

  get progress(): (Progress & { readonly ms: number }) | undefined {
    return this.#progress
  }

  /** Whether there is progress that was not sent to the server. */
  get hasUnsentProgress(): boolean {
    return this.#hasUnsent
  }

  /** The progress to send now, if any. */
  nextProgress(ms: number): Progress | undefined {
    if (!this.#hasUnsent || !this.#progress || ms - this.#sentMs < PROGRESS_INTERVAL_MS)
      return undefined
    const { fraction, message } = this.#progress
    this.#hasUnsent = false
    this.#sentMs = ms
    return { fraction, message }
  }
}
