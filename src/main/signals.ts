import type { Terminal } from '../cli/terminal.ts'

/** Runs until a signal comes, then stops in good order; a second signal does not wait for that. */
export function stopOnSignals(terminal: Terminal, stop: () => Promise<void>): Promise<number> {
  return new Promise((resolve) => {
    let isStopping = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (isStopping) {
        terminal.err(`punctual: ${signal} again; what still runs is killed\n`)
        process.exit(1)
      }
      isStopping = true
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
