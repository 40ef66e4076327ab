import pg from 'pg'
import { StoreError } from '../../port.ts'
import { setUpConnection, type ConnectionRole, type ServerFacts } from './set-up-connection.ts'
import { waitAbout } from './system-clock.ts'
import { typeParsers } from './type-parsers.ts'

export interface ConnectionOptions {
  readonly url: string
  readonly role: ConnectionRole
  readonly schema: string
  readonly onWarn: (message: string) => void
  /** Called for every new connection, including the first; an error refuses the connection. */
  readonly onConnectionSetUp: (facts: ServerFacts) => void
  /** The database reports that its data is damaged, or that its disk is full. */
  readonly onStoreTrouble?: (error: StoreError) => void
  /** How long an answer may take before the link counts as dead. */
  readonly answerMs?: number
}

const CONNECT_MS = 3_000
/** A little more than the server's own limit, so that this side closes only dead links. */
const ANSWER_MS = 12_000
const KEEP_ALIVE_MS = 5_000
const CLOSE_MS = 1_000
const BACKOFF_MS = { first: 20, max: 1_000 } as const

/**
 * One connection for one kind of work, used by one caller at a time. It reconnects by itself when
 * it breaks; until then calls fail at once, because to its callers a scheduler that waits for its
 * database looks like one that hangs.
 */
export class Connection {
  readonly #options: ConnectionOptions
  #client: pg.Client | undefined
  #closing = new AbortController()
  #reason: unknown
  #turn: Promise<unknown> = Promise.resolve()
  #waiting = 0

  private constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** The first connection has to work; only later ones are retried. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(options)
    await connection.#connect()
    return connection
  }

  get isUp(): boolean {
    return this.#client !== undefined
  }

  /** Callers that use or wait for the connection. */
  get load(): number {
    return this.#waiting
  }

  async use<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    this.#waiting += 1
    const mine = this.#turn.then(async () => await work(this.#requireClient()))
    this.#turn = mine.catch(() => {})
    try {
      return await mine
    } finally {
      this.#waiting -= 1
    }
  }

  /** Reports an error of the database itself. */
  report(error: Error): void {
    if (error instanceof StoreError && error.trouble) this.#options.onStoreTrouble?.(error)
  }

  /** Ends a session whose state no longer matches ours; the next one starts clean. */
  reset(reason: unknown): void {
    if (this.#client) this.#lose(this.#client, reason)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#turn
    const client = this.#client
    this.#client = undefined
    if (!client) return
    // A server that vanished does not answer the closeTimeout either.
    const closeTimeout = new AbortController()
    await Promise.race([client.end(), waitAbout(CLOSE_MS, closeTimeout.signal)])
    closeTimeout.abort()
    client.connection.stream.destroy()
  }

  #requireClient(): pg.Client {
    if (this.#client) return this.#client
    const why = this.#closing.signal.aborted ? 'the store is closed' : 'not connected to PostgreSQL'
    throw new StoreError('unavailable', why, { cause: this.#reason })
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: this.#options.answerMs ?? ANSWER_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      pipeline: true,
      types: typeParsers,
    })
    client.on('error', (error) => this.#lose(client, error))
    client.on('end', () => this.#lose(client, undefined))
    try {
      await client.connect()
      this.#options.onConnectionSetUp(await setUpConnection(client, this.#options))
    } catch (error) {
      discard(client)
      if (error instanceof StoreError) throw error
      throw new StoreError('unavailable', (error as Error).message, { cause: error })
    }
    if (this.#closing.signal.aborted) return discard(client)
    this.#client = client
  }

  #lose(client: pg.Client, reason: unknown): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#reason = reason
    discard(client)
    void this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#closing
    for (let backoffMs: number = BACKOFF_MS.first; !signal.aborted;) {
      await waitAbout(backoffMs, signal)
      if (signal.aborted) return
      try {
        await this.#connect()
        return
      } catch (error) {
        this.#reason = error
      }
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MS.max)
    }
  }
}

/** Drops a client in any state; no caller waits for a broken link to close. */
function discard(client: pg.Client): void {
  client.end().catch(() => {})
}
