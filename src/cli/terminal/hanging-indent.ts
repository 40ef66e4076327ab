import { harmless, type Terminal } from './terminal.ts'
import { widthOf, wrap } from './text-width.ts'

const LEAST_WIDTH = 20

/** Prints a text next to its label, wrapped to the terminal's width with a hanging indent. */
export function hangingIndent(
  terminal: Pick<Terminal, 'columns'>,
  label: string,
  text: string,
): string[] {
  const margin = widthOf(label)
  // Coloured text comes from the CLI itself and is short.
  const isPainted = text.includes('\u001B')
  const [first = '', ...rest] = isPainted
    ? [text]
    : wrap(harmless(text), Math.max(LEAST_WIDTH, terminal.columns - margin))
  return [label + first, ...rest.map((line) => ' '.repeat(margin) + line)]
}
