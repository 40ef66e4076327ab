import { harmless } from './terminal.ts'

export interface Column<Row> {
  readonly title: string
  show(row: Row): string
  /** The one that gives way when there is not enough room. */
  readonly gives?: boolean
}

const GAP = 2
const LEAST = 8
// oxlint-disable-next-line no-control-regex -- what it is for
const PAINT = /\u001B\[\d+m/g

/** Rows under titles, as wide as the terminal at most. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): string {
  const cells = rows.map((row) => columns.map((column) => column.show(row)))
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => lengthOf(line[index] ?? ''))),
  )
  const total = widths.reduce((sum, one) => sum + one + GAP, -GAP)
  const giving = columns.findIndex(({ gives }) => gives)
  if (total > width && giving >= 0) {
    const spare = (widths[giving] as number) - (total - width)
    widths[giving] = Math.max(LEAST, spare)
  }
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => fit(text, widths[index] as number, index === texts.length - 1))
      .join(' '.repeat(GAP))
      .trimEnd()
  return [line(columns.map(({ title }) => title)), ...cells.map(line)].join('\n')
}

function lengthOf(text: string): number {
  return text.replaceAll(PAINT, '').length
}

function fit(text: string, width: number, isLast: boolean): string {
  const length = lengthOf(text)
  if (length > width) return `${harmless(text.replaceAll(PAINT, '')).slice(0, width - 1)}…`
  return isLast ? text : text + ' '.repeat(width - length)
}
