import type { Command } from 'commander'
import { EXIT } from '../errors/exit-codes.ts'
import type { Format } from '../terminal/output.ts'
import { createServerCalls, type ServerCalls } from '../server/server-calls.ts'
import { findServer } from '../server/server-address.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'

/** What every command uses. */
export interface Cli {
  readonly terminal: Terminal
  /** Whether there are words after `--`, which belong to another program. */
  readonly hasDashes: boolean
  /** The server chosen by flags, environment and directories. */
  calls(command: Command): ServerCalls
  format(command: Command): Format
  /** Sets the exit code, if it is not 0. */
  exitWith(code: number): void
  readonly exitCode: number
}

interface GlobalOptions {
  readonly server?: readonly string[]
  readonly context?: string
  readonly token?: string
  readonly project?: string
  readonly data?: string
  readonly output?: Format
}

export function createCli(terminal: Terminal, argv: readonly string[]): Cli {
  const { env, cwd } = terminal
  let exitCode: number = EXIT.ok
  let isServerShown = false
  const formatOf = (command: Command) => command.optsWithGlobals<GlobalOptions>().output ?? 'table'

  /** Prints which server was changed, unless the caller named it. */
  const showServer = (url: string, chosenAs: string) => {
    if (isServerShown) return
    isServerShown = true
    terminal.err(`  ${paint(terminal, 'bold', 'server:')}  ${url}  (${harmless(chosenAs)})\n`)
  }

  return {
    terminal,
    get exitCode() {
      return exitCode
    },
    exitWith(code) {
      exitCode = code
    },
    hasDashes: argv.includes('--'),
    calls(command) {
      const options = command.optsWithGlobals<GlobalOptions>()
      const address = findServer(options, { env, cwd })
      const { chosenAs } = address
      // In JSON mode, standard error of a failed command contains exactly one JSON document.
      const isForPrograms = formatOf(command).startsWith('json')
      return createServerCalls(address, {
        project: options.project ?? env['PUNCTUAL_PROJECT'] ?? address.project,
        sleep: terminal.sleep,
        stateDirectory: terminal.stateDirectory,
        onChange(url, isDone) {
          if (chosenAs !== undefined && (isDone || !isForPrograms)) showServer(url, chosenAs)
        },
      })
    },
    format: formatOf,
  }
}
