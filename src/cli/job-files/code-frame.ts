import type { FileProblem } from '../../core/job-file/read-job-file.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'

/** Prints one problem of a file: its position, the message, the source line, and a hint. */
export function showProblem(
  terminal: Terminal,
  path: string,
  text: string,
  { line, column, length, code, message, hint }: FileProblem,
  level: 'error' | 'warning' = 'error',
): string {
  const colour = level === 'error' ? 'red' : 'yellow'
  const lines = text.split('\n')
  const width = String(line).length
  const gutter = (number: string) => paint(terminal, 'grey', `  ${number.padStart(width)} │ `)
  const shown = (number: number) => gutter(String(number)) + lineOf(lines[number - 1])
  const caret = ' '.repeat(indent(lines[line - 1], column)) + '^'.repeat(Math.min(length, 60))
  const before = line > 1 && (lines[line - 2] ?? '').trim() !== '' ? [shown(line - 1)] : []
  return [
    `${paint(terminal, 'bold', `${path}:${line}:${column}`)}  ${paint(terminal, colour, `${level}[${code}]`)} ${harmless(message)}`,
    ...before,
    shown(line),
    gutter('') + paint(terminal, colour, caret),
    ...(hint === undefined ? [] : [`  ${paint(terminal, 'bold', 'help:')} ${harmless(hint)}`]),
    '',
  ].join('\n')
}

const WIDEST = 160

function lineOf(line = ''): string {
  const plain = harmless(line.replace(/\r$/, '').replaceAll('\t', ' '))
  return plain.length > WIDEST ? `${plain.slice(0, WIDEST)}…` : plain
}

function indent(line = '', column: number): number {
  return Math.min(column - 1, line.length, WIDEST)
}
