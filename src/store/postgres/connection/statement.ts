/** A statement the server plans once per connection and knows by its name. */
export interface Statement {
  readonly name: string
  readonly text: string
  /** Rows as arrays instead of objects: for the few statements that return hundreds of rows a tick. */
  readonly rowMode?: 'array'
}

/** Where statements go: a transaction, or a connection that commits each by itself. */
export interface Work {
  /**
   * Sent at once, without waiting for the answers to earlier statements: what need not be decided
   * in between travels in one round trip.
   */
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>
}

/**
 * The store's clock, as the first CTE of a statement whose `$1` is null, or a test's own time.
 * `clock_timestamp` and not `now`: a transaction that waited for a lock must not decide by the past.
 */
export const CLOCK = `clock AS MATERIALIZED (
    SELECT coalesce($1::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now)`

/**
 * For a promise that may never be looked at: when a statement fails, so does the transaction it was
 * part of, and that is where the failure is reported.
 */
export function reportedElsewhere<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
