import { runProgram } from '../cli/program.ts'
import { addStarters } from './server-commands.ts'
import { createSystemTerminal } from './system-terminal.ts'
import { readVersion } from './version.ts'

/** The program itself. */
export async function main(argv: readonly string[]): Promise<void> {
  const terminal = createSystemTerminal()
  const version = readVersion()
  const code = await runProgram(argv, {
    terminal,
    version,
    addStarters: (program, cli) => addStarters(program, cli, version),
  })
  // Streams that still hold words are emptied by the end of the event loop; servers have ended theirs.
  process.exitCode = code
}
