import { runProgram } from '../cli/program.ts'
import { addServerCommands } from './server-commands.ts'
import { createSystemTerminal } from './system-terminal.ts'
import { readVersion } from './version.ts'

/** The entry point of the program. */
export async function main(argv: readonly string[]): Promise<void> {
  const terminal = createSystemTerminal()
  const version = readVersion()
  const code = await runProgram(argv, {
    terminal,
    version,
    addServerCommands: (program, cli) => addServerCommands(program, cli, version),
  })
  // Not `process.exit`: buffered output is written before the event loop ends, and servers have
  // closed theirs.
  process.exitCode = code
}
