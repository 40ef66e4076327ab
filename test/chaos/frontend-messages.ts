const SSL_REQUEST = 80_877_103
const WRITES = /\b(INSERT|UPDATE|DELETE)\b/

/** A position in a stream of messages at which the server commits. */
export interface CommitPoint {
  /** How many of the bytes just added lead up to it. */
  readonly length: number
  /** COMMIT, or the name of a statement that was a transaction of its own. */
  readonly what: string
}

/** Messages of a PostgreSQL client, as far as they decide when the server commits. */
export interface FrontendMessages {
  /** Adds bytes and returns the end of the first message that makes the server commit, if any. */
  findCommit(bytes: Buffer): CommitPoint | undefined
}

/** Follows one connection; https://www.postgresql.org/docs/current/protocol-message-formats.html */
export function createFrontendMessages(): FrontendMessages {
  const statements = new Map<string, string>()
  let pending = Buffer.alloc(0)
  let isStarted = false
  let isInTransaction = false
  let commits: string | undefined

  const execute = (sql: string, name = '') => {
    const word = /^\s*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? ''
    if (word === 'BEGIN') isInTransaction = true
    else if (word === 'COMMIT') commits = word
    else if (!isInTransaction && WRITES.test(sql)) commits = name || word
    if (word === 'COMMIT' || word === 'ROLLBACK') isInTransaction = false
  }

  /** What the server commits on this message. The server executes nothing before a Query or Sync message. */
  const take = (type: string, body: Buffer): string | undefined => {
    const [first = '', second = ''] = body.toString('latin1').split('\0', 2)
    if (type === 'P') statements.set(first, second)
    if (type === 'B') execute(statements.get(second) ?? '', second)
    if (type === 'Q') execute(first)
    if (type !== 'Q' && type !== 'S') return undefined
    const committed = commits
    commits = undefined
    return committed
  }

  return {
    findCommit(bytes) {
      const carried = pending.length
      pending = Buffer.concat([pending, bytes])
      let at = 0
      let first: CommitPoint | undefined
      for (;;) {
        const header = isStarted ? 5 : 4
        if (pending.length < at + header) break
        const length = pending.readInt32BE(at + header - 4) + header - 4
        if (pending.length < at + length) break
        const body = pending.subarray(at + header, at + length)
        const type = String.fromCharCode(pending[at] ?? 0)
        at += length
        if (isStarted) {
          const what = take(type, body)
          first ??= what === undefined ? undefined : { length: at - carried, what }
        } else isStarted = body.readInt32BE(0) !== SSL_REQUEST
      }
      pending = pending.subarray(at)
      return first
    },
  }
}
