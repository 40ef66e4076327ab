/** A signal to a process group arrives twice: directly, and from a parent that forwards it. */
const SAME_SIGNAL_MS = 500

/**
 * The first signal stops gracefully, the second kills running attempts, the third exits at once.
 */
export interface Stopping {
  stop(): Promise<void>
  killRunning(): Promise<void>
}

export interface SignalOutput {
  /** Monotonic time: the time between signals must not depend on the wall clock. */
  mono(): number
  notice(text: string, level?: 'error'): void
}

export function stopOnSignals(
  { mono, notice }: SignalOutput,
  { stop, killRunning: hurry }: Stopping,
): Promise<number> {
  return new Promise((resolve) => {
    let signals = 0
    let heardMono = Number.NEGATIVE_INFINITY
    const fail = (error: unknown) => {
      notice(error instanceof Error ? error.message : String(error), 'error')
      resolve(1)
    }
    const onSignal = (signal: NodeJS.Signals) => {
      if (mono() - heardMono < SAME_SIGNAL_MS) return
      heardMono = mono()
      signals += 1
      if (signals === 1) {
        notice(`${signal}, stopping; send it again to stop at once`)
        stop().then(() => resolve(signals === 1 ? 0 : 1), fail)
      } else if (signals === 2) {
        notice(`${signal} again; running attempts are killed`)
        hurry().catch(fail)
      } else process.exit(1)
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}
