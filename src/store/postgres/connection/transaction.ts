import type { Client } from 'pg'
import { StoreError } from '../../port.ts'
import type { Connection } from './connection.ts'
import {
  primaryFailure,
  isSecondaryFailure,
  isTransient,
  isStaleSession,
  QueryFailed,
  toStoreError,
} from './store-errors.ts'
import { reportedElsewhere, type Statement, type Queryable } from './statement.ts'
import { waitAbout } from './system-clock.ts'

/**
 * `transaction`: BEGIN … COMMIT. `single`: one statement, which is its own transaction. `reading`:
 * nothing is written, so a broken connection leaves nothing unknown. `snapshot`: several statements
 * that read the same state of the database.
 */
export type TransactionMode = 'transaction' | 'single' | 'reading' | 'snapshot'

const BEGIN_SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

const TRIES = 5
const PAUSE_MS = 40

/**
 * Runs `body` as one transaction, and again from the start after a conflict with others. Statements
 * that `body` sent without awaiting them are still under way when COMMIT is sent: a promise in its
 * result has resolved once this resolves, and everything is rolled back when any of them failed.
 */
export async function transact<T>(
  connection: Connection,
  body: (tx: Queryable) => Promise<T>,
  mode: TransactionMode = 'transaction',
  maxTries = TRIES,
): Promise<T> {
  return connection.use(async (client) => {
    for (let tries = 1; ; tries += 1) {
      const attempt = new TransactionAttempt(client, mode)
      try {
        return await attempt.run(body)
      } catch (error) {
        if (isStaleSession(error)) connection.reset(error)
        if (tries === maxTries || !isTransient(error)) {
          const failure = attempt.explain(error)
          connection.report(failure)
          throw failure
        }
        await waitAbout(PAUSE_MS * tries)
      }
    }
  })
}

export async function read<Row>(
  connection: Connection,
  statement: Statement,
  values?: readonly unknown[],
): Promise<Row[]> {
  return transact(connection, (tx) => tx.query<Row>(statement, values), 'reading')
}

class TransactionAttempt implements Queryable {
  readonly #client: Client
  readonly #mode: TransactionMode
  readonly #sent: Promise<unknown>[] = []
  #commitSent = false

  constructor(client: Client, mode: TransactionMode) {
    this.#client = client
    this.#mode = mode
  }

  query<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    const commits = this.#mode === 'single'
    if (commits) this.#commitSent = true
    const answer = this.#send<Row>({ ...statement, values: [...values] }, commits)
    return reportedElsewhere(answer.then(({ rows }) => rows))
  }

  async run<T>(body: (tx: Queryable) => Promise<T>): Promise<T> {
    if (this.#mode === 'snapshot') return this.#readSnapshot(body)
    if (this.#mode !== 'transaction') {
      const value = await body(this)
      await Promise.all(this.#sent)
      return value
    }
    const begun = this.#send({ text: 'BEGIN' }, false)
    let value: T
    try {
      value = await body(this)
    } catch (error) {
      await Promise.allSettled([this.#send({ text: 'ROLLBACK' }, false)])
      await this.#assertBegun(begun)
      if (!isSecondaryFailure(error)) throw error
      throw primaryFailure(await Promise.allSettled(this.#sent)) ?? error
    }
    this.#commitSent = true
    const committed = this.#send({ text: 'COMMIT' }, true)
    const settled = await Promise.allSettled(this.#sent)
    await this.#assertBegun(begun)
    // The server answers COMMIT with ROLLBACK when something before it failed.
    const failure = primaryFailure(settled)
    if (failure !== undefined) throw failure
    if ((await committed).command !== 'COMMIT') throw new Error('the commit became a rollback')
    return value
  }

  /**
   * The end of a snapshot is not awaited: it decides nothing, and the connection keeps the order.
   */
  async #readSnapshot<T>(body: (tx: Queryable) => Promise<T>): Promise<T> {
    const begun = this.#send({ text: BEGIN_SNAPSHOT }, false)
    try {
      const value = await body(this)
      await begun
      return value
    } finally {
      void this.#send({ text: 'ROLLBACK' }, false)
    }
  }

  explain(error: unknown): Error {
    return toStoreError(error, this.#commitSent)
  }

  /** If BEGIN failed, each statement was committed by itself: then the outcome is unknown. */
  async #assertBegun(begun: Promise<unknown>): Promise<void> {
    try {
      await begun
    } catch (error) {
      const { severity, message } = error as QueryFailed
      if (severity === 'ERROR') throw new StoreError('unknown', message, { cause: error })
      throw error
    }
  }

  #send<Row>(config: Config, commits: boolean): Promise<{ rows: Row[]; command: string }> {
    const answer = this.#client.query(config).catch((error: unknown) => {
      throw new QueryFailed(error, commits)
    })
    this.#sent.push(reportedElsewhere(answer))
    return answer as Promise<{ rows: Row[]; command: string }>
  }
}

interface Config {
  text: string
  name?: string
  rowMode?: 'array'
  values?: unknown[]
}
