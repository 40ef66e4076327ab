import { CLOCK_TOLERANCE_MS, statementTime } from '../../../core/trusted-clock.ts'

/** A statement the server plans once per connection and knows by its name. */
export interface Statement {
  readonly name: string
  readonly text: string
  /**
   * Rows as arrays instead of objects: for the few statements that return hundreds of rows a tick.
   */
  readonly rowMode?: 'array'
}

/** Runs statements: a transaction, or a connection that commits each statement by itself. */
export interface Queryable {
  /**
   * Sends the statement at once, without waiting for earlier answers: statements that do not depend
   * on each other share one round trip.
   */
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>
}

/**
 * The time a statement acts by, as its `$1`. Null: the database's clock. Negative: the time that
 * the node expects, negated; the database's clock is used as long as it is within the tolerance of
 * it, and the expected time if it has jumped. Positive: exactly this time (tests, and firing ahead
 * of time).
 */
export type StatementClock = number | null

export const WALL = `floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`

/**
 * The store's clock, as the first CTE of a statement whose `$1` is a `StatementClock`.
 * `clock_timestamp` and not `now`: a transaction that waited for a lock must not decide by the past.
 */
export const CLOCK = `clock AS MATERIALIZED (
    SELECT CASE WHEN $1::bigint >= 0 THEN $1::bigint
                WHEN abs(wall + $1::bigint) > ${CLOCK_TOLERANCE_MS} THEN -$1::bigint
                ELSE wall END AS now
      FROM (SELECT ${WALL} AS wall) AS read)`

/** The time a statement acts by, like `CLOCK`, for a database clock that was already read. */
export function statementTimeAt(clock: StatementClock, wall: number): number {
  if (clock === null) return wall
  return clock >= 0 ? clock : statementTime(wall, -clock)
}

/**
 * For a promise that may never be awaited: when a statement fails, so does its transaction, which
 * reports the failure.
 */
export function reportedElsewhere<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
