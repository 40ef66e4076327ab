import { cut, widthOf } from './text-width.ts'

export interface Column<Row> {
  readonly title: string
  show(row: Row): string
  /** It gives way when there is not enough room; the widest first. */
  readonly gives?: boolean
}

const GAP = 2
const LEAST = 8

/** Rows under titles, as wide as the terminal at most. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): string {
  const cells = rows.map((row) => columns.map((column) => column.show(row)))
  const wanted = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => widthOf(line[index] ?? ''))),
  )
  const widths = shrink(
    wanted,
    columns.map(({ gives = false }) => gives),
    width - GAP * (columns.length - 1),
  )
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => fit(text, widths[index] as number))
      .join(' '.repeat(GAP))
      .trimEnd()
  return [line(columns.map(({ title }) => title)), ...cells.map(line)].join('\n')
}

function shrink(wanted: readonly number[], gives: readonly boolean[], room: number): number[] {
  const widths = [...wanted]
  for (let excess = sum(widths) - room; excess > 0; excess -= 1) {
    const giving = widths.map((width, index) => (gives[index] && width > LEAST ? width : 0))
    const widest = Math.max(...giving)
    if (widest === 0) break
    widths[giving.indexOf(widest)] = widest - 1
  }
  return widths
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

function fit(text: string, width: number): string {
  const cutText = cut(text, width)
  return cutText + ' '.repeat(width - widthOf(cutText))
}
