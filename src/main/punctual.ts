import { readFileSync } from 'node:fs'
import { runProgram } from '../cli/program.ts'
import { addStarters } from './starters.ts'
import { createSystemTerminal } from './system-terminal.ts'

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

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
