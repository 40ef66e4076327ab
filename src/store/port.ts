import type { Lane, LaneSpec } from '../core/lane.ts'
import type { Cause, FinalState, RunState } from '../core/run-state.ts'

/**
 * The store is the truth. These are the verbs the scheduler needs from it, in the scheduler's words;
 * how rows are laid out is each adapter's own affair. Every verb is one transaction: it happened
 * durably, or not at all, or it fails with a `StoreError` that says which of these is known.
 */
export interface Store extends TickStore, SweepStore, NodeStore, CatalogStore, RunQueries, Upkeep {
  readonly kind: 'sqlite' | 'postgres'
  /** For people: `SQLite 3.53.4`, `PostgreSQL 18.4`. */
  readonly version: string
  /** How many ticks may be under way at once, and how many items of a kind one tick may carry. */
  readonly ticksInFlight: number
  readonly tickCap: number
  close(): Promise<void>
}

/**
 * `refused`: nothing was written and the same batch would be refused again (a poison item).
 * `unavailable`: nothing was written; try again. `unknown`: the connection broke around COMMIT;
 * the batch may or may not be there, so repeat it with the same ids and fences.
 */
export class StoreError extends Error {
  readonly outcome: 'refused' | 'unavailable' | 'unknown'

  constructor(outcome: StoreError['outcome'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreError'
    this.outcome = outcome
  }
}

// ── The tick: submissions, endings, cancels, admissions and claims in one transaction ──────────────

export interface TickStore {
  tick(batch: TickBatch): Promise<TickResult>
}

/** Applied in this order: submits, ends, cancels, admission at every gate touched, claims. */
export interface TickBatch {
  /** The node incarnation that will own new leases. */
  readonly node: number
  readonly submits: readonly NewRun[]
  readonly ends: readonly EndCommand[]
  readonly cancels: readonly CancelCommand[]
  readonly claims: readonly ClaimDemand[]
}

export interface TickResult {
  /** The store's clock when the tick ran. */
  readonly now: number
  readonly submits: readonly SubmitVerdict[]
  readonly ends: readonly EndVerdict[]
  readonly cancels: readonly CancelVerdict[]
  /** One list per demand, in claim order, shorter than the demand when the lane ran dry. */
  readonly claims: readonly (readonly Lease[])[]
  /** Lanes that received ready rows other than by fresh submission (admission, retry, give-back). */
  readonly refilled: readonly number[]
  /** When the earliest timer row written by this tick falls due, if any was. */
  readonly nextDueAt: number | null
}

export interface NewRun {
  readonly id: number
  readonly projectId: number
  readonly jobId: number
  readonly laneId: number
  /** Order in the lane, smaller first: the negated priority. */
  readonly rank: number
  /** In the future: the run is scheduled. Past or null: it is ready now (or blocked, if gated). */
  readonly dueAt: number | null
  readonly timeoutMs: number | null
  /** Stored form of `RunPolicy`; null is the default. */
  readonly policy: string | null
  /** The version of its job's definition it runs; null for jobs without one. */
  readonly version: number | null
  /** The token it was submitted with; null for the installation's own. */
  readonly createdBy: number | null
  /** Stored form of `Work`, when it is the run's own and not its job's. */
  readonly work: string | null
  /** JSON text, never looked into. */
  readonly input: string | null
  readonly tags: string | null
  /** Gates to pass before being ready; ids in ascending order, empty for most runs. */
  readonly gates: readonly number[]
  /** Unique among live runs of the project. */
  readonly dedupeKey: string | null
  /** Unique for a day; `digest` tells a repeat from a different submission. */
  readonly idempotency: {
    readonly key: string
    readonly digest: string
    readonly until: number
  } | null
  readonly retryOf: number | null
  /** Straight to a lease for this session, past the line. Only for ungated runs due now. */
  handOff: { readonly session: number; readonly fence: number } | null
}

/**
 * `inserted`; `exists`: this id was already inserted by this node (a repeat: success);
 * `collision`: the id belongs to another node's run, mint a new one;
 * `duplicate`: a dedupe or idempotency key names a run that is already there;
 * `mismatch`: the idempotency key was used with another digest.
 */
export type SubmitVerdict =
  | { readonly kind: 'inserted' | 'exists' | 'collision' }
  | { readonly kind: 'duplicate' | 'mismatch'; readonly id: number }

/** The ending of one attempt, decided by `endAttempt`; the store adds only what it alone knows. */
export interface EndCommand {
  readonly runId: number
  readonly fence: number
  /** When set, the lease must still belong to this node: a loss noticed by its owner. */
  readonly owner: number | null
  /**
   * Where the run goes if no cancel is marked on the lease. With a mark, everything but `succeeded`
   * becomes `cancelled`: the mark may have come from another node a moment ago.
   */
  readonly to: FinalState | 'retry' | 'given_back'
  readonly cause: Cause | null
  /** For `retry`: 0 goes straight to ready. */
  readonly delayMs: number
  /** Lost attempts so far, as `endAttempt` counted them. */
  readonly lost: number
  /** The place in line of a run that becomes ready again by retry; a give-back keeps its own age. */
  readonly pos: number
  readonly worker: string | null
  readonly message: string | null
  readonly result: string | null
  /** What is known of the process it was: JSON text, opaque to the store. */
  readonly process: string | null
}

/**
 * `replayed`: this fence already ended this attempt, with the same cause: the report came twice.
 * `stale`: the lease is someone else's, or gone, or the attempt ended otherwise.
 */
export type EndVerdict = 'ended' | 'replayed' | 'stale'

export interface CancelCommand {
  readonly runId: number
  readonly projectId: number
}

/**
 * `cancelled`: it was waiting and is final now. `marked`: it is running and its lease carries the
 * mark; `node` owns that lease. `final`: it had ended already, in this state.
 */
export type CancelVerdict =
  | { readonly kind: 'cancelled' | 'unknown' }
  | { readonly kind: 'marked'; readonly node: number }
  | { readonly kind: 'final'; readonly state: FinalState }

export interface ClaimDemand {
  readonly laneId: number
  /** The session that gets the first row, the second, …; its length is the demand. */
  readonly sessions: readonly number[]
  /** 20 random bits per row, for the fences. */
  readonly salts: readonly number[]
  /**
   * Everything up to this place was claimed before and may be skipped (dead rows under an old
   * snapshot are expensive to step over). Null sweeps the lane from its start.
   */
  readonly floor: LanePlace | null
}

export interface LanePlace {
  readonly rank: number
  readonly pos: number
}

/** Everything the scheduler needs to know about an attempt under way. */
export interface Lease {
  readonly runId: number
  readonly fence: number
  readonly node: number
  readonly session: number
  readonly projectId: number
  readonly jobId: number
  readonly laneId: number
  readonly rank: number
  readonly pos: number
  readonly attempt: number
  readonly lost: number
  readonly cancelling: boolean
  readonly startedAt: number
  readonly createdAt: number
  readonly dueAt: number | null
  readonly timeoutMs: number | null
  readonly policy: string | null
  readonly version: number | null
  readonly work: string | null
  readonly input: string | null
}

// ── Sweeps: they find and promote; endings go through the tick ─────────────────────────────────────

export interface SweepStore {
  /**
   * Moves timers that are due to ready (or, gated, through admission), oldest first, at most
   * `positions.length`; each takes the next position. `nextDueAt` is the earliest timer left.
   */
  promote(input: { positions: readonly number[] }): Promise<Promotion>
  /**
   * Re-derives admission for blocked rows whose recheck time has passed and gives those that stay a
   * new one `recheckMs` ahead. The guarantee behind the fast path in the tick.
   */
  recheck(input: {
    limit: number
    recheckMs: number
  }): Promise<{ lanes: readonly number[]; more: boolean }>
  /** Leases whose node is dead and past its grace, by run id above `after`. */
  orphans(input: { after: number; limit: number }): Promise<readonly Lease[]>
  /** Leases owned by a node, by run id above `after`. */
  ownLeases(input: { node: number; after: number; limit: number }): Promise<readonly Lease[]>
  /** Runs of this node's leases that carry a cancel mark. */
  cancelMarks(input: { node: number }): Promise<readonly number[]>
  /** What became of attempts this node has no memory of. */
  findAttempts(pairs: readonly { runId: number; fence: number }[]): Promise<readonly FoundAttempt[]>
}

export type FoundAttempt =
  | { readonly kind: 'lease'; readonly lease: Lease }
  /** Null after a success. */
  | { readonly kind: 'ended'; readonly cause: Cause | null }
  | { readonly kind: 'stale' }

export interface Promotion {
  readonly promoted: number
  readonly lanes: readonly number[]
  readonly nextDueAt: number | null
}

// ── Nodes and sessions ─────────────────────────────────────────────────────────────────────────────

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
   * newer registration of the session is known. `unlisted` are the session's other leases: grants
   * whose answer it never saw.
   */
  adopt(input: {
    node: number
    session: number
    registration: number
    name: string
    held: readonly { runId: number; fence: number }[]
  }): Promise<{ adopted: readonly Lease[]; unlisted: readonly Lease[] } | null>
  forgetSession(input: { session: number; registration: number }): Promise<void>
}

export interface JoinedNode {
  readonly node: number
  readonly slot: number
  /** No id at or below this may be minted in the slot. */
  readonly idFloor: number
  readonly now: number
}

// ── Names that became numbers ──────────────────────────────────────────────────────────────────────

export interface CatalogStore {
  internProjects(names: readonly string[]): Promise<readonly number[]>
  /** Without creating it. */
  findProject(name: string): Promise<number | null>
  findJob(input: { projectId: number; name: string }): Promise<number | null>
  internJobs(jobs: readonly { projectId: number; name: string }[]): Promise<readonly number[]>
  /** Fails with `too_many_lanes` when a project would exceed its share. */
  internLanes(specs: readonly LaneSpec[]): Promise<readonly number[]>
  /** Creates gates or updates their capacity: the latest word wins. */
  internGates(
    gates: readonly { projectId: number; name: string; capacity: number }[],
  ): Promise<readonly number[]>
  /** Lanes with an id above `after`, so that a node learns of those others interned. */
  lanesAfter(after: number): Promise<readonly Lane[]>
  jobNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>
  projectNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>
}

// ── Reading ────────────────────────────────────────────────────────────────────────────────────────

export interface RunQueries {
  findRun(input: { projectId: number; runId: number }): Promise<RunRecord | null>
  /** Newest first, ids below `before`. */
  listRuns(input: RunFilter): Promise<readonly RunRecord[]>
  /** Counts of waiting and running runs now; history is never counted. */
  liveCounts(): Promise<Readonly<Record<'ready' | 'scheduled' | 'blocked' | 'running', number>>>
}

export interface RunFilter {
  readonly projectId: number
  readonly state: RunState | null
  readonly jobId: number | null
  readonly before: number
  readonly limit: number
}

export interface RunRecord {
  readonly id: number
  readonly projectId: number
  readonly jobId: number
  readonly laneId: number
  readonly rank: number
  readonly state: RunState
  readonly cancelling: boolean
  readonly attempt: number
  readonly lost: number
  readonly cause: Cause | null
  readonly message: string | null
  readonly worker: string | null
  readonly createdAt: number
  readonly dueAt: number | null
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly timeoutMs: number | null
  readonly policy: string | null
  readonly version: number | null
  readonly createdBy: number | null
  readonly work: string | null
  readonly input: string | null
  readonly result: string | null
  readonly process: string | null
  readonly tags: string | null
  readonly gates: readonly number[]
  readonly retryOf: number | null
}

// ── Upkeep ─────────────────────────────────────────────────────────────────────────────────────────

export interface Upkeep {
  /** Answers quickly when the store works; fails with a `StoreError` when it does not. */
  ping(): Promise<void>
  /** Deletes runs that ended before `endedBefore`, a bounded bite at a time. Live runs stay. */
  prune(input: { endedBefore: number; limit: number }): Promise<{ more: boolean }>
  /** Housekeeping for the hours ahead: partitions, checkpoints, expired keys, old node rows. */
  maintain(): Promise<void>
}
