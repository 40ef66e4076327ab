import type { Need } from '../../core/run/needs.ts'
import type { Cause, FinalState } from '../../core/run/run-state.ts'
import type { AuditEntry } from './audit.ts'
import type { News } from './workflows.ts'

/** Submissions, endings, cancels, admissions and claims in one transaction. */
export interface TickStore {
  tick(batch: TickBatch): Promise<TickResult>
}

/**
 * Applied in this order: submits, ends, cancels, admission at every gate touched, claims. New runs at
 * gates may come in after the ends, where they find the room that was left.
 */
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
  /** Lanes whose queue had used up its rate before the demand was met. They may still have work. */
  readonly limited: readonly LimitedLane[]
  /** When the earliest timer row written by this tick falls due, if any was. */
  readonly nextDueAt: number | null
  /** For those who waited for what ended. */
  readonly news: readonly News[]
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
  /** It waits for the ends of these, and only then for its time and at its gates. */
  readonly after?: readonly Need[] | undefined
  /** Unique among live runs of the project. */
  readonly dedupeKey: string | null
  /** Unique for a day; `digest` tells a repeat from a different submission. */
  readonly idempotency: {
    readonly key: string
    readonly digest: string
    readonly until: number
  } | null
  readonly retryOf: number | null
  /**
   * Straight to a lease for this session, past the line. Only for runs due now; one that has to wait
   * at a gate or for another run is not handed over, which its verdict says.
   */
  handOff: { readonly session: number; readonly fence: number } | null
}

/**
 * `inserted`; `gated`: inserted, and before its gates it waits its turn (it may have had it by the end
 * of the same tick: then its lane was refilled), or it waits for other runs; `exists`: this id was already inserted by this node (a repeat: success);
 * `collision`: the id belongs to another node's run, mint a new one;
 * `duplicate`: a dedupe or idempotency key names a run that is already there;
 * `mismatch`: the idempotency key was used with another digest;
 * `unknown`: it is to start after a run that its project does not have.
 */
export type SubmitVerdict =
  | { readonly kind: 'inserted' | 'gated' | 'exists' | 'collision' }
  | { readonly kind: 'duplicate' | 'mismatch' | 'unknown'; readonly id: number }

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
  /**
   * The place in line of a run that becomes ready again by retry; a give-back keeps its own age, and
   * before it is due it waits for its time.
   */
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
  /** Written if the run is cancelled or marked by this command. */
  readonly audit?: AuditEntry
}

/**
 * `cancelled`: it was waiting and is final now. `marked`: it is running and its lease carries the
 * mark; `node` owns that lease, or went on last with that flow. `final`: it had ended already, in this state.
 */
export type CancelVerdict =
  | { readonly kind: 'cancelled' | 'unknown' }
  | { readonly kind: 'marked'; readonly node: number }
  | { readonly kind: 'final'; readonly state: FinalState }

export interface ClaimDemand {
  readonly laneId: number
  /**
   * The session that gets the first row, the second, …; its length is the demand. A run whose last
   * attempt failed or was lost is dealt from the other end, if it would else meet the same session.
   */
  readonly sessions: readonly number[]
  /** 20 random bits per row, for the fences. */
  readonly salts: readonly number[]
  /**
   * Everything up to this place was claimed before and may be skipped (dead rows under an old
   * snapshot are expensive to step over). Null sweeps the lane from its start.
   */
  readonly floor: LanePlace | null
  /** The queue has a rate: no more is claimed than that leaves, by all nodes together. */
  readonly rate?: RateKey | undefined
}

/** The queue whose rate counts. */
export interface RateKey {
  readonly projectId: number
  readonly queue: string
}

export interface LimitedLane {
  readonly laneId: number
  /** By the store's clock: from then on there is room for another. */
  readonly until: number
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
