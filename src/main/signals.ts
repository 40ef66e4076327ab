import type { Terminal } from '../cli/terminal/terminal.ts'

/** Whoever ends a whole group is heard twice: by us, and by a parent who passes it on. */
const SAME_SIGNAL_MS = 500

/** The first signal stops in good order, the second kills what that waits for, the third waits for nothing. */
export interface Stopping {
  stop(): Promise<void>
  hurry(): Promise<void>
}

export function stopOnSignals(terminal: Terminal, { stop, hurry }: Stopping): Promise<number> {
  return new Promise((resolve) => {
    let signals = 0
    let heardAt = Number.NEGATIVE_INFINITY
    const fail = (error: unknown) => {
      terminal.err(`punctual: ${error instanceof Error ? error.message : String(error)}\n`)
      resolve(1)
    }
    const onSignal = (signal: NodeJS.Signals) => {
      if (terminal.now() - heardAt < SAME_SIGNAL_MS) return
      heardAt = terminal.now()
      signals += 1
      if (signals === 1) {
        terminal.err(`punctual: ${signal}, stopping; once more to stop at once\n`)
        stop().then(() => resolve(signals === 1 ? 0 : 1), fail)
      } else if (signals === 2) {
        terminal.err(`punctual: ${signal} again; what still runs is killed\n`)
        hurry().catch(fail)
      } else process.exit(1)
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}
