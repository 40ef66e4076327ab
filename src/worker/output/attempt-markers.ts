import type { Mark, Progress } from '../../core/text/markers.ts'
import { capMessage } from '../attempts/outcome.ts'

/** How often the server is told how far one attempt is. */
const TELL_MS = 1_000

/** What an attempt says about itself: how far it is, and what first went wrong. */
export class Said {
  #progress: (Progress & { readonly ms: number }) | undefined
  #error: string | undefined
  #isNews = false
  #toldMs = Number.NEGATIVE_INFINITY

  /** True if it is something the server should hear of. */
  hear(mark: Mark, ms: number): boolean {
    if (mark.kind === 'error') this.#error ??= capMessage(mark.text)
    if (mark.kind !== 'progress') return false
    const message = capMessage(mark.text)
    this.#progress = { fraction: mark.fraction, message, ms: Math.max(0, Math.round(ms)) }
    const wasNews = this.#isNews
    this.#isNews = true
    return !wasNews
  }

  /** The first error it spoke of. */
  get error(): string | undefined {
    return this.#error || undefined
  }

  get progress(): (Progress & { readonly ms: number }) | undefined {
    return this.#progress
  }

  /** Whether there is something the server does not know, now or in a moment. */
  get isNews(): boolean {
    return this.#isNews
  }

  /** What to tell the server now, if anything. */
  news(ms: number): Progress | undefined {
    if (!this.#isNews || !this.#progress || ms - this.#toldMs < TELL_MS) return undefined
    const { fraction, message } = this.#progress
    this.#isNews = false
    this.#toldMs = ms
    return { fraction, message }
  }
}
