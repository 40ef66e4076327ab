import { harmless, type Terminal } from './terminal.ts'
import { widthOf, wrap } from './text-width.ts'

const LEAST_WIDTH = 20

/** A text beside its label, in as many lines as it takes on this terminal, all of them beside it. */
export function beside(terminal: Pick<Terminal, 'columns'>, label: string, text: string): string[] {
  const margin = widthOf(label)
  // What is coloured is ours, and short.
  const isPainted = text.includes('\u001B')
  const [first = '', ...rest] = isPainted
    ? [text]
    : wrap(harmless(text), Math.max(LEAST_WIDTH, terminal.columns - margin))
  return [label + first, ...rest.map((line) => ' '.repeat(margin) + line)]
}
