import type { Terminal } from '../cli/terminal.ts'

/** Whoever ends a whole group is heard twice: by us, and by a parent who passes it on. */
const SAME_SIGNAL_MS = 500

/** Runs until a signal comes, then stops in good order; a second signal does not wait for that. */
export function stopOnSignals(terminal: Terminal, stop: () => Promise<void>): Promise<number> {
  return new Promise((resolve) => {
    let stoppingAt: number | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      if (stoppingAt !== undefined) {
        if (terminal.now() - stoppingAt < SAME_SIGNAL_MS) return
        terminal.err(`punctual: ${signal} again; what still runs is killed\n`)
        process.exit(1)
      }
      stoppingAt = terminal.now()
      terminal.err(`punctual: ${signal}, stopping; once more to stop at once\n`)
      stop().then(
        () => resolve(0),
        (error: unknown) => {
          terminal.err(`punctual: ${error instanceof Error ? error.message : String(error)}\n`)
          resolve(1)
        },
      )
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}
