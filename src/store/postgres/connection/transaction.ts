import type { Client } from 'pg'
import { StoreError } from '../../port.ts'
import type { Connection } from './connection.ts'
import {
  firstFailure,
  isAftermath,
  isPassing,
  isStaleSession,
  QueryFailed,
  toStoreError,
} from './store-errors.ts'
import { reportedElsewhere, type Statement, type Work } from './statement.ts'
import { waitAbout } from './system-clock.ts'

/**
 * `transaction`: BEGIN … COMMIT. `single`: one statement, which is its own transaction. `reading`:
 * nothing is written, so a broken connection leaves nothing unknown.
 */
export type Mode = 'transaction' | 'single' | 'reading'

const TRIES = 5
const PAUSE_MS = 40

/**
 * Runs `body` as one transaction, again from the start when others were in its way. What `body`
 * returns without having awaited is still on its way when COMMIT follows: a promise in its result
 * has been kept once this resolves, and everything is rolled back when any of them failed.
 */
export async function transact<T>(
  connection: Connection,
  body: (work: Work) => Promise<T>,
  mode: Mode = 'transaction',
  mostTries = TRIES,
): Promise<T> {
  return connection.use(async (client) => {
    for (let tries = 1; ; tries += 1) {
      const attempt = new Attempt(client, mode)
      try {
        return await attempt.run(body)
      } catch (error) {
        if (isStaleSession(error)) connection.reset(error)
        if (tries === mostTries || !isPassing(error)) throw attempt.explain(error)
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
  return transact(connection, (work) => work.query<Row>(statement, values), 'reading')
}

class Attempt implements Work {
  readonly #client: Client
  readonly #mode: Mode
  readonly #sent: Promise<unknown>[] = []
  #commitSent = false

  constructor(client: Client, mode: Mode) {
    this.#client = client
    this.#mode = mode
  }

  query<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    const commits = this.#mode === 'single'
    if (commits) this.#commitSent = true
    const answer = this.#send<Row>({ ...statement, values: [...values] }, commits)
    return reportedElsewhere(answer.then(({ rows }) => rows))
  }

  async run<T>(body: (work: Work) => Promise<T>): Promise<T> {
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
      if (!isAftermath(error)) throw error
      throw firstFailure(await Promise.allSettled(this.#sent)) ?? error
    }
    this.#commitSent = true
    const committed = this.#send({ text: 'COMMIT' }, true)
    const settled = await Promise.allSettled(this.#sent)
    await this.#assertBegun(begun)
    // The server answers COMMIT with ROLLBACK when something before it failed.
    const failure = firstFailure(settled)
    if (failure !== undefined) throw failure
    if ((await committed).command !== 'COMMIT') throw new Error('the commit became a rollback')
    return value
  }

  explain(error: unknown): Error {
    return toStoreError(error, this.#commitSent)
  }

  /** Behind a BEGIN that failed, statements were committed one by one: then nothing is certain. */
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
