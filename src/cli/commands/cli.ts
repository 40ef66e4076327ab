import type { Command } from 'commander'
import { EXIT } from '../errors/exit-codes.ts'
import type { Format } from '../terminal/output.ts'
import { createServerCalls, type ServerCalls } from '../server/server-calls.ts'
import { findServer } from '../server/server-address.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What every command works with. */
export interface Cli {
  readonly terminal: Terminal
  /** Words after `--` are somebody else's. */
  readonly hasDashes: boolean
  /** The server that flags, environment and directories lead to. */
  calls(command: Command): ServerCalls
  format(command: Command): Format
  /** The code for the shell, if it is not 0. */
  exitWith(code: number): void
  readonly exitCode: number
}

interface GlobalOptions {
  readonly server?: string
  readonly token?: string
  readonly project?: string
  readonly data?: string
  readonly output?: Format
}

export function createCli(terminal: Terminal, argv: readonly string[]): Cli {
  const { env, cwd } = terminal
  let exitCode: number = EXIT.ok
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
      const project = options.project ?? env['PUNCTUAL_PROJECT']
      return createServerCalls(address, { project, sleep: terminal.sleep })
    },
    format: (command) => command.optsWithGlobals<GlobalOptions>().output ?? 'table',
  }
}
