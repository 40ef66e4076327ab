import { type Column, table } from './table.ts'
import type { Terminal } from './terminal.ts'

export const FORMATS = ['table', 'json', 'jsonl', 'name'] as const
export type Format = (typeof FORMATS)[number]

/** How rows of one kind are shown to people, and their names. */
export interface Show<Row> {
  readonly columns: readonly Column<Row>[]
  nameOf(row: Row): string
  /** The text for an empty list. */
  readonly empty: string
}

/** Prints a list in the requested format. JSON stays valid for an empty list. */
export function printList<Row>(
  terminal: Terminal,
  format: Format,
  rows: readonly Row[],
  show: Show<Row>,
): void {
  switch (format) {
    case 'json':
      return terminal.out(`${JSON.stringify(rows, null, 2)}\n`)
    case 'jsonl':
      return terminal.out(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    case 'name':
      return terminal.out(rows.map((row) => `${show.nameOf(row)}\n`).join(''))
    case 'table':
      if (rows.length === 0) return terminal.err(`${show.empty}\n`)
      return terminal.out(`${table(show.columns, rows, terminal.columns)}\n`)
  }
}

/** Prints one object: as JSON, as its name, or as `humanText`. */
export function printOne(
  terminal: Terminal,
  format: Format,
  value: object,
  { name, humanText }: { name: string; humanText: () => string },
): void {
  switch (format) {
    case 'json':
      return terminal.out(`${JSON.stringify(value, null, 2)}\n`)
    case 'jsonl':
      return terminal.out(`${JSON.stringify(value)}\n`)
    case 'name':
      return terminal.out(`${name}\n`)
    case 'table':
      return terminal.out(humanText())
  }
}
