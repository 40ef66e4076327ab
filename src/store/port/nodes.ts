import type { Lease } from './tick.ts'

export interface NodeStore {
  /**
   * Enters a new incarnation on a free slot. `null` when all slots are taken by live nodes. In an
   * exclusive store every earlier incarnation is dead by construction: it is declared so at once,
   * and its leases wait `graceMs` for their workers to come back.
   */
  join(input: { name: string; ttlMs: number; graceMs: number }): Promise<JoinedNode | null>
  /** Renews the node row and stores the id mark. Not alive: it was declared dead; it stays dead. */
  beat(input: {
    node: number
    ttlMs: number
    idMark: number
  }): Promise<{ alive: boolean; now: number }>
  /** An orderly goodbye: the slot is free at once, from `idMark` on; leases become orphans at once. */
  leave(input: { node: number; idMark: number }): Promise<void>
  /** Declares nodes dead whose row has expired, each by compare-and-set. Returns their incarnations. */
  buryDead(): Promise<readonly number[]>
  /**
   * Binds a session to a node and moves the leases it lists to it, all or nothing. `null` when a
   * newer registration of the session is known, or when it is another project's. `unlisted` are the
   * session's other leases: grants whose answer it never saw.
   */
  adopt(input: {
    node: number
    session: number
    registration: number
    name: string
    /** The project it registers in. */
    project?: string
    /** JSON text of what the worker offers, for people who look for one. */
    offer?: string
    held: readonly { runId: number; fence: number }[]
  }): Promise<{ adopted: readonly Lease[]; unlisted: readonly Lease[] } | null>
  /** What is written down of a session and the leases it has; null if it was never there. */
  recallSession(input: { session: number }): Promise<RecalledSession | null>
  forgetSession(input: { session: number; registration: number }): Promise<void>
  /** It has not been heard of for a lease. It may come back; until then nobody lists it. */
  loseSession(input: { session: number; registration: number }): Promise<void>
  /** Why its worker takes nothing, by its own account; null when it does again. */
  quarantineSession(input: {
    session: number
    registration: number
    reason: string | null
  }): Promise<void>
  /** When sessions were last heard of: for people, and never earlier than is known already. */
  touchSessions(sightings: readonly { session: number; at: number }[]): Promise<void>
  /** Nodes that are alive. */
  countNodes(): Promise<number>
  /** Sessions bound to nodes that are alive, in order of name. */
  listSessions(): Promise<readonly SessionRecord[]>
}

export interface JoinedNode {
  readonly node: number
  readonly slot: number
  /** No id at or below this may be minted in the slot. */
  readonly idFloor: number
  readonly now: number
}

export interface RecalledSession {
  readonly registration: number
  readonly project: string | null
  /** It may know of these, except where they start at a time that has not come. */
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
  /** When it registered, and the node it registered with. */
  readonly since: number
  readonly node: number
  readonly nodeName: string
  /** Attempts it has under way, and the slots they take. */
  readonly running: number
  readonly used: number
  /** Why it takes nothing, by its own account. */
  readonly quarantined: string | null
}
