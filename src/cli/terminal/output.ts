import { type Column, table } from './table.ts'
import type { Terminal } from './terminal.ts'

export const FORMATS = ['table', 'json', 'jsonl', 'name'] as const
export type Format = (typeof FORMATS)[number]

/** How one kind of thing is shown to people, and what it is called. */
export interface Show<Row> {
  readonly columns: readonly Column<Row>[]
  nameOf(row: Row): string
  /** What to say when there is nothing. */
  readonly empty: string
}

/** A list, in the format that was asked for. Programs get valid JSON also when there is nothing. */
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

/** One thing: as JSON, by name, or as `people` would read it. */
export function printOne(
  terminal: Terminal,
  format: Format,
  value: object,
  { name, people }: { name: string; people: () => string },
): void {
  switch (format) {
    case 'json':
      return terminal.out(`${JSON.stringify(value, null, 2)}\n`)
    case 'jsonl':
      return terminal.out(`${JSON.stringify(value)}\n`)
    case 'name':
      return terminal.out(`${name}\n`)
    case 'table':
      return terminal.out(people())
  }
}
