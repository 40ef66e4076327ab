import type { Clock } from '../../core/clock.ts'

/**
 * One bounded piece of periodic work. `more`: call again at once. Otherwise after `idleMs` (or the
 * default).
 */
export type LoopStep = () => Promise<LoopOutcome>
export type LoopOutcome = { more: boolean; idleMs?: number }

export interface LoopOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly idleMs: number
  onError(error: unknown): void
}

export interface Loop {
  /** Ends the current idle time. */
  wake(): void
  readonly done: Promise<void>
}

/** Runs the step only while it is allowed; otherwise it is left for later. */
export function onlyWhile(may: () => boolean, step: LoopStep): LoopStep {
  return async () => (may() ? step() : { more: false })
}

/** Repeats a step until stopped; a failed step is reported and repeated. */
export function startLoop(step: LoopStep, options: LoopOptions): Loop {
  const { clock, signal } = options
  let alarm = new AbortController()
  let woken = false
  // With an explicit reason, because every abort without one creates an unused exception.
  const ring = () => alarm.abort('awake')
  signal.addEventListener('abort', ring, { once: true })
  const run = async () => {
    while (!signal.aborted) {
      woken = false
      const { more, idleMs = options.idleMs } = await step().catch(
        (error: unknown): LoopOutcome => {
          options.onError(error)
          return { more: false }
        },
      )
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
