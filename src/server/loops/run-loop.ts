import type { Clock } from '../../core/clock.ts'

/** One bounded piece of a duty. `more`: call again at once. Otherwise after `idleMs` (or the default). */
export type Step = () => Promise<Outcome>
export type Outcome = { more: boolean; idleMs?: number }

export interface LoopOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly idleMs: number
  onError(error: unknown): void
}

export interface Loop {
  /** Ends the present idle time early. */
  wake(): void
  readonly done: Promise<void>
}

/** The one `while` behind every duty. A failed step is reported and the loop goes on. */
export function startLoop(step: Step, options: LoopOptions): Loop {
  const { clock, signal } = options
  let alarm = new AbortController()
  let woken = false
  // A reason of our own: without one, every abort makes an exception that nobody reads.
  const ring = () => alarm.abort('awake')
  signal.addEventListener('abort', ring, { once: true })
  const run = async () => {
    while (!signal.aborted) {
      woken = false
      const { more, idleMs = options.idleMs } = await step().catch((error: unknown): Outcome => {
        options.onError(error)
        return { more: false }
      })
      if (more || woken || signal.aborted) continue
      alarm = new AbortController()
      await clock.sleep(idleMs, alarm.signal)
    }
  }
  return {
    wake() {
      woken = true
      ring()
    },
    done: run(),
  }
}
