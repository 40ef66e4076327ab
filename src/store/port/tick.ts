import type { Need } from '../../core/run/needs.ts'
import type { Cause, FinalState } from '../../core/run/run-state.ts'
import type { AuditEntry } from './audit.ts'
import type { Signal } from './workflows.ts'

/** Submissions, ends, cancels, admissions and claims in one transaction. */
export interface TickStore {
  tick(batch: TickBatch): Promise<TickResult>
}

/**
 * Applied in this order: submits, ends, cancels, admission at every gate touched, claims. New gated
 * runs may be inserted after the ends, so that they find the slots that became free.
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
  /**
   * Lanes whose queue used up its rate before the demand was met. They may still have ready runs.
   */
  readonly limited: readonly LimitedLane[]
  /** When the earliest timer row written by this tick falls due, if any was. */
  readonly nextDueAt: number | null
  /** Signals for runs and workflows that waited for what ended. */
  readonly signals: readonly Signal[]
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
  /** Stored form of the run's own definition, when it does not use its job's. */
  readonly work: string | null
  /** JSON text, opaque to the store. */
  readonly input: string | null
  readonly tags: string | null
  /** Gates to pass before being ready; ids in ascending order, empty for most runs. */
  readonly gates: readonly number[]
  /** The run waits for these to end, and only then for its due time and its gates. */
  readonly after?: readonly Need[] | undefined
  /** Unique among live runs of the project. */
  readonly dedupeKey: string | null
  /** Unique for a day; `digest` distinguishes a repeat from a different submission. */
  readonly idempotency: {
    readonly key: string
    readonly digest: string
    readonly until: number
  } | null
  readonly retryOf: number | null
  /**
   * Direct assignment: the run gets a lease for this session at once, ahead of the queue. Only for
   * runs that are due now; a run that has to wait at a gate or for another run is not assigned,
   * which its verdict says.
   */
  reservation: { readonly session: number; readonly fence: number } | null
}

/**
 * `inserted`; `gated`: inserted, and it waits at its gates or for other runs (a gate may admit it
 * by the end of the same tick: then its lane was refilled); `exists`: this node already inserted
 * this id (a repeat: success); `collision`: the id belongs to another node's run, mint a new one;
 * `duplicate`: a dedupe or idempotency key names an existing run; `mismatch`: the idempotency key
 * was used with another digest; `unknown`: it is to start after a run that its project does not
 * have.
 */
export type SubmitVerdict =
  | { readonly kind: 'inserted' | 'gated' | 'exists' | 'collision' }
  | { readonly kind: 'duplicate' | 'mismatch' | 'unknown'; readonly id: number }

/** The end of one attempt, decided by `endAttempt`; the store adds only what it alone knows. */
export interface EndCommand {
  readonly runId: number
  readonly fence: number
  /** When set, this node must still own the lease: the owner noticed a loss. */
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
   * The queue position of a run that becomes ready again by a retry. A run that is given back keeps
   * its position, and waits if it is not due yet.
   */
  readonly pos: number
  /**
   * Null if the report does not name the worker: then it is the worker whose session has the lease.
   */
  readonly worker: string | null
  readonly message: string | null
  readonly result: string | null
  /** Facts about the process: JSON text, opaque to the store. */
  readonly process: string | null
}

/**
 * `replayed`: this fence already ended this attempt with the same cause, so the report is a repeat.
 * `stale`: the lease belongs to another attempt, no longer exists, or ended otherwise.
 */
export type EndVerdict = 'ended' | 'replayed' | 'stale'

export interface CancelCommand {
  readonly runId: number
  readonly projectId: number
  /** Written if this command cancels or marks the run. */
  readonly audit?: AuditEntry
}

/**
 * `cancelled`: the run was waiting and is final now. `marked`: the run is running and its lease
 * carries the mark; `node` owns that lease, or was the last to advance that workflow. `final`: the
 * run had ended already, in this state.
 */
export type CancelVerdict =
  | { readonly kind: 'cancelled' | 'unknown' }
  | { readonly kind: 'marked'; readonly node: number }
  | { readonly kind: 'final'; readonly state: FinalState }

export interface ClaimDemand {
  readonly laneId: number
  /**
   * The session that gets the first row, the second, and so on; its length is the demand. A run
   * whose last attempt failed or was lost is assigned from the other end if it would otherwise get
   * the same session.
   */
  readonly sessions: readonly number[]
  /** 20 random bits per row, for the fences. */
  readonly salts: readonly number[]
  /**
   * Everything up to this position was claimed before and may be skipped (dead rows under an old
   * snapshot are expensive to step over). Null scans the lane from its start.
   */
  readonly floor: LanePosition | null
  /** The queue has a rate: all nodes together claim no more than it allows. */
  readonly rate?: RateKey | undefined
}

/** The queue whose rate applies. */
export interface RateKey {
  readonly projectId: number
  readonly queue: string
}

export interface LimitedLane {
  readonly laneId: number
  /** By the store's clock: when the rate allows the next claim. */
  readonly until: number
}

export interface LanePosition {
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
