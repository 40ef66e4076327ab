import { cut, widthOf } from './text-width.ts'

export interface Column<Row> {
  readonly title: string
  show(row: Row): string
  /** The column may be cut when the terminal is too narrow; the widest first. */
  readonly shrinks?: boolean
  /** The minimum width, if its content is that wide. */
  readonly minWidth?: number
  /** The column is dropped when others would fall below their minimum; the highest number first. */
  readonly dropOrder?: number
  /** The column is hidden if it is empty in every row. */
  readonly hideIfEmpty?: boolean
}

const GAP = 2
const LEAST = 8

/** Formats rows as a table that is at most as wide as the terminal. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): string {
  const filled = columns.map((column) => fill(column, rows))
  const shown = choose(
    filled.filter(({ column, cells }) => !column.hideIfEmpty || cells.some((cell) => cell !== '')),
    width,
  )
  const widths = shrink(shown, width - GAP * (shown.length - 1))
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => fit(text, widths[index] as number))
      .join(' '.repeat(GAP))
      .trimEnd()
  const lines = rows.map((_, row) => line(shown.map(({ cells }) => cells[row] ?? '')))
  return [line(shown.map(({ column }) => column.title)), ...lines].join('\n')
}

interface Filled<Row> {
  readonly column: Column<Row>
  readonly cells: readonly string[]
  readonly wanted: number
}

function fill<Row>(column: Column<Row>, rows: readonly Row[]): Filled<Row> {
  const cells = rows.map((row) => column.show(row))
  return { column, cells, wanted: Math.max(column.title.length, ...cells.map(widthOf)) }
}

/** All columns if their minimum widths fit; otherwise without the optional ones. */
function choose<Row>(columns: readonly Filled<Row>[], width: number): readonly Filled<Row>[] {
  const kept = sum(columns.map(({ column, wanted }) => Math.min(wanted, minWidthOf(column))))
  if (kept + GAP * (columns.length - 1) <= width) return columns
  const order = columns.flatMap(({ column }) => column.dropOrder ?? [])
  if (order.length === 0) return columns
  const first = Math.max(...order)
  return choose(
    columns.filter(({ column }) => column.dropOrder !== first),
    width,
  )
}

function minWidthOf<Row>({ shrinks: gives = false, minWidth: least = LEAST }: Column<Row>): number {
  return gives ? least : Infinity
}

/** Cuts the widest columns first, down to their minimum; if that is not enough, further. */
function shrink<Row>(columns: readonly Filled<Row>[], available: number): number[] {
  const widths = columns.map(({ wanted }) => wanted)
  const floors = [
    columns.map(({ column }) => minWidthOf(column)),
    columns.map(({ column }) => (column.shrinks ? LEAST : Infinity)),
  ]
  for (const floor of floors) {
    for (let excess = sum(widths) - available; excess > 0; excess -= 1) {
      const giving = widths.map((width, index) => (width > (floor[index] as number) ? width : 0))
      const widest = Math.max(...giving)
      if (widest === 0) break
      widths[giving.indexOf(widest)] = widest - 1
    }
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
