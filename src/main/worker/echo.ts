import type { Assignment } from '../../core/wire/protocol.ts'
import { harmless, paint, type Terminal } from '../../cli/terminal/terminal.ts'

/** Prints the output of processes line by line on the worker's terminal. */
export function createEcho(terminal: Terminal) {
  return ({ job, run }: Assignment, _stream: 1 | 2, bytes: Buffer): void => {
    const mark = paint(terminal, 'grey', `${job} ${run.slice(-4)} │`)
    const lines = bytes.toString().replace(/\n$/, '').split('\n')
    terminal.err(lines.map((line) => `${mark} ${harmless(line)}\n`).join(''))
  }
}
