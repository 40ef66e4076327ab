import type { WireJob } from '../../core/job/job-views.ts'
import { harmless, type Terminal } from '../terminal/terminal.ts'

/** Prints the server's warnings about a definition. */
export function printJobWarnings(terminal: Terminal, { name, warnings = [] }: WireJob): void {
  for (const { code, message, hint } of warnings) {
    terminal.err(`warning[${code}] ${harmless(`${name}: ${message}`)}\n  ${harmless(hint)}\n`)
  }
}
