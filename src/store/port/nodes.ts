import type { Lease } from './tick.ts'

export interface NodeStore {
  /**
   * Registers a new incarnation of a node on a free slot. `null` when live nodes have all slots. In
   * an exclusive store every earlier incarnation must be dead: it is declared so at once, and its
   * leases wait `graceMs` for their workers to come back.
   */
  join(input: { name: string; ttlMs: number; graceMs: number }): Promise<JoinedNode | null>
  /**
   * Renews the node row and stores the id mark. Not alive: the node was declared dead, and stays
   * dead.
   */
  heartbeat(input: {
    node: number
    ttlMs: number
    idMark: number
  }): Promise<{ alive: boolean; now: number }>
  /**
   * From now on, statements of this store use the store's own clock only while it is within a few
   * seconds of what the node expects, and otherwise the expected time. `now` of `join` and
   * `heartbeat` is still what the clock says.
   */
  expectClock(expected: () => number): void
  /** What the store's clock says, and what is recorded about earlier clocks. */
  clockFacts(): Promise<ClockRow>
  /**
   * Records the trusted time, and how long the clock has agreed with it after a doubt (null: no
   * doubt).
   */
  recordClock(input: { seenAt: number; agreedMs: number | null }): Promise<void>
  /**
   * The node has minted ids up to `idMark` by a clock that turned out to be wrong. It moves to
   * another slot whose ids are not ahead of the clock. Null: the node is not alive, or there is no
   * other slot.
   */
  changeSlot(input: {
    node: number
    ttlMs: number
    idMark: number
  }): Promise<{ slot: number; idFloor: number } | null>
  /**
   * Orderly shutdown: the slot is free at once, from `idMark` on, and the leases become orphans at
   * once.
   */
  leave(input: { node: number; idMark: number }): Promise<void>
  /**
   * Declares nodes dead whose row has expired, each by compare-and-set. Returns their incarnations.
   */
  declareDeadNodes(): Promise<readonly number[]>
  /** Records a new session. False when its id is taken. */
  openSession(input: SessionBinding): Promise<boolean>
  /**
   * Binds a returning session to a node and adopts the leases it lists, all or nothing. `unknown`:
   * there is no such session, or it is not the caller's. `superseded`: a newer registration exists.
   * `unlisted` are its other leases: grants whose response the worker never saw.
   */
  adopt(
    input: SessionBinding & {
      /** The caller may act for every project. */
      isEverywhere: boolean
      held: readonly { runId: number; fence: number }[]
    },
  ): Promise<Adoption | 'unknown' | 'superseded'>
  /** The stored session and its leases; null if it never existed. */
  loadSession(input: { session: number }): Promise<StoredSession | null>
  forgetSession(input: { session: number; registration: number }): Promise<void>
  /**
   * The worker has been silent for the length of a lease. It may come back; until then lists leave
   * the session out.
   */
  markSessionLost(input: { session: number; registration: number }): Promise<void>
  /** Why the worker takes no work, as reported by itself; null when it takes work again. */
  quarantineSession(input: {
    session: number
    registration: number
    reason: string | null
  }): Promise<void>
  /** When sessions were last heard from. For display; never moves back. */
  touchSessions(lastSeen: readonly { session: number; at: number }[]): Promise<void>
  /** Number of live nodes. */
  countNodes(): Promise<number>
  /** Sessions bound to live nodes, in order of name. */
  listSessions(): Promise<readonly SessionRecord[]>
}

export interface SessionBinding extends SessionOwner {
  readonly node: number
  readonly session: number
  readonly registration: number
  readonly name: string
  /** The project it registers in. */
  readonly project: string
  /** JSON text of what the worker offers, for display and search. */
  readonly offer: string | null
}

/**
 * Who a session belongs to. A session with a secret returns with that secret and a token of the
 * same identity; one without a secret returns with the very same token.
 */
export interface SessionOwner {
  /** The token that registered it, or another principal of the server. */
  readonly owner: string
  /** Stays the same when a token is rotated. */
  readonly identity: string
  /** SHA-256 of the secret, in hexadecimal digits; null without a secret. */
  readonly secret: string | null
}

export interface Adoption {
  readonly adopted: readonly Lease[]
  readonly unlisted: readonly Lease[]
  /** SHA-256 of the session's secret; null for a session without one. */
  readonly secret: string | null
}

export interface JoinedNode {
  readonly node: number
  readonly slot: number
  /** No id at or below this may be minted in the slot. */
  readonly idFloor: number
  readonly now: number
}

export interface ClockRow {
  readonly wall: number
  /** The newest recorded time; null if none is recorded. */
  readonly newestAt: number | null
  readonly agreedMs: number | null
  /** The highest run id, including ids minted by a clock that was ahead. */
  readonly highestId: number
}

export interface StoredSession {
  readonly registration: number
  readonly project: string | null
  /** Leases the worker may know of, except those that start at a time that has not come. */
  readonly held: readonly {
    readonly runId: number
    readonly fence: number
    readonly startedAt: number
  }[]
}

export interface SessionRecord {
  readonly id: number
  readonly name: string
  readonly offer: string | null
  /** When the session registered, and the node it registered with. */
  readonly since: number
  readonly node: number
  readonly nodeName: string
  /** Attempts it has under way, and the slots they take. */
  readonly running: number
  readonly used: number
  /** Why the worker takes no work, as reported by itself. */
  readonly quarantined: string | null
}
