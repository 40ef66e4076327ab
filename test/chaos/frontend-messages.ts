const SSL_REQUEST = 80_877_103
const WRITES = /\b(INSERT|UPDATE|DELETE)\b/

/** A place in a stream of messages at which the server commits. */
export interface CommitPoint {
  /** How many of the bytes just taken in lead up to it. */
  readonly length: number
  /** COMMIT, or the name of the statement that was a transaction of its own. */
  readonly what: string
}

/** What a client of PostgreSQL has said, as far as it matters for when something is committed. */
export interface FrontendMessages {
  /** Takes in bytes and tells where the first message ends that makes the server commit, if any does. */
  findCommit(bytes: Buffer): CommitPoint | undefined
}

/** Follows one connection; https://www.postgresql.org/docs/current/protocol-message-formats.html */
export function createFrontendMessages(): FrontendMessages {
  const statements = new Map<string, string>()
  let pending = Buffer.alloc(0)
  let isGreeted = false
  let isInTransaction = false
  let commits: string | undefined

  const execute = (sql: string, name = '') => {
    const word = /^\s*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? ''
    if (word === 'BEGIN') isInTransaction = true
    else if (word === 'COMMIT') commits = word
    else if (!isInTransaction && WRITES.test(sql)) commits = name || word
    if (word === 'COMMIT' || word === 'ROLLBACK') isInTransaction = false
  }

  /** What the server commits on this message; nothing before it is told to act. */
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
        const header = isGreeted ? 5 : 4
        if (pending.length < at + header) break
        const length = pending.readInt32BE(at + header - 4) + header - 4
        if (pending.length < at + length) break
        const body = pending.subarray(at + header, at + length)
        const type = String.fromCharCode(pending[at] ?? 0)
        at += length
        if (isGreeted) {
          const what = take(type, body)
          first ??= what === undefined ? undefined : { length: at - carried, what }
        } else isGreeted = body.readInt32BE(0) !== SSL_REQUEST
      }
      pending = pending.subarray(at)
      return first
    },
  }
}
