import type { Database, Statement } from 'better-sqlite3'

/**
 * Rows per statement, largest first. Starting a statement opens a cursor on every index of the
 * table, which costs more than writing a row: measured, 64 rows at once take half the time.
 */
const SIZES = [64, 8, 1] as const

/** A statement met an unexpected row, so the whole tick is repeated row by row. */
export class BulkMismatch extends Error {}

/**
 * Runs one statement over many rows. `values` is the concatenation of the rows. Throws
 * `BulkMismatch` if a row does not change exactly one row.
 */
export type Bulk = (shared: readonly unknown[], values: readonly unknown[]) => void

/**
 * `sqlFor` receives the rows as a `VALUES` list of `width` columns; each row must change one row.
 */
export function prepareBulk(db: Database, width: number, sqlFor: (rows: string) => string): Bulk {
  const statements = SIZES.map((size) => db.prepare<unknown[]>(sqlFor(valuesList(size, width))))

  return (shared, values) => {
    if (values.length === 0) return
    let at = 0
    for (const [index, size] of SIZES.entries()) {
      const statement = statements[index] as Statement<unknown[]>
      for (; at + size * width <= values.length; at += size * width) {
        const { changes } = statement.run([...shared, ...values.slice(at, at + size * width)])
        if (changes !== size) throw new BulkMismatch(`${changes} of ${size} rows`)
      }
    }
  }
}

export function valuesList(rows: number, width: number): string {
  const row = `(${new Array(width).fill('?').join(', ')})`
  return `VALUES ${new Array(rows).fill(row).join(', ')}`
}
