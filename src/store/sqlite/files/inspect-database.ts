import type { Database } from 'better-sqlite3'

/** Where an inspection of a large database stopped. */
export interface Position {
  readonly table: string
  /** The key of the last row that was read. */
  readonly key: readonly KeyValue[]
}

type KeyValue = string | number | Buffer

export interface InspectOptions {
  /** Databases up to this size are checked as a whole. */
  readonly wholeBytes: number
  /** Time limit for reading the rows of a larger one. */
  readonly budgetMs: number
  /** Monotonic time in milliseconds. */
  mono(): number
}

export interface Inspection {
  /** Description of the damage; null when none was found. */
  readonly finding: string | null
  /** Where to continue; null when the end was reached, or everything was checked. */
  readonly next: Position | null
}

/**
 * Looks for damage in bounded time. A check of the whole file takes about a second per gigabyte and
 * holds back the write-ahead log meanwhile. Of a large file, rows are read in parts instead; over
 * some hours this finds all damaged table pages.
 */
export function inspectDatabase(
  db: Database,
  from: Position | null,
  options: InspectOptions,
): Inspection {
  const size = db
    .prepare<[], number>('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size')
    .pluck()
  if ((size.get() ?? 0) <= options.wholeBytes) return { finding: quickCheck(db), next: null }
  return readRows(db, from, options)
}

function quickCheck(db: Database): string | null {
  const [finding] = db.prepare<[], string>('PRAGMA quick_check(1)').pluck().all()
  return finding === 'ok' ? null : (finding ?? 'no finding')
}

const TABLES = `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL ORDER BY name`
const KEY_COLUMNS = `SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk`
const IS_WITHOUT_ROWID = `SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'`

function readRows(
  db: Database,
  from: Position | null,
  { budgetMs, mono }: InspectOptions,
): Inspection {
  const tables = db.prepare<[], string>(TABLES).pluck().all()
  const untilMono = mono() + budgetMs
  for (const table of tables) {
    if (from !== null && table < from.table) continue
    const key = keyOf(db, table)
    const after = table === from?.table ? from.key : null
    // One row at a time: a row may hold megabytes.
    for (const row of rowsAfter(db, table, key, after)) {
      if (mono() < untilMono) continue
      const position = { table, key: row.slice(0, key.length) as KeyValue[] }
      return { finding: null, next: position }
    }
  }
  return { finding: null, next: null }
}

/** The columns by which the rows of a table are stored in order. */
function keyOf(db: Database, table: string): string[] {
  if (db.prepare<[string], number>(IS_WITHOUT_ROWID).pluck().get(table) !== 1) return ['rowid']
  const columns = db.prepare<[string], string>(KEY_COLUMNS).pluck().all(table)
  return columns.map((column) => `"${column}"`)
}

function rowsAfter(
  db: Database,
  table: string,
  key: readonly string[],
  after: readonly KeyValue[] | null,
): IterableIterator<unknown[]> {
  const columns = key.join()
  const where = after === null ? '' : `WHERE (${columns}) > (${after.map(() => '?').join()})`
  const sql = `SELECT ${columns}, * FROM "${table}" ${where} ORDER BY ${columns}`
  return db
    .prepare<KeyValue[], unknown[]>(sql)
    .raw()
    .iterate(...(after ?? []))
}
