import type { Execution } from '../worker/execution.ts'
import type { Role } from '../permission.ts'
import type { Labels } from '../worker/labels.ts'
import type { OutputMarker } from '../text/markers.ts'
import type { WireProgress } from './runs.ts'

/**
 * The API representation of queues, tokens, secrets, workers and logs, shared by server, client and command line.
 * Jobs, schedules, workflows and webhooks have views in their own folders. Fields are only ever added.
 */

/** A page of a list. `next_cursor` requests the next page; null on the last one. */
export interface WirePage<Item> {
  readonly data: readonly Item[]
  readonly next_cursor: string | null
}

export interface WireQueue {
  readonly name: string
  readonly paused: boolean
  readonly default_timeout_ms: number | null
  readonly max_timeout_ms: number | null
  readonly rate: { readonly limit: number; readonly per_ms: number; readonly burst: number } | null
  /** Number of ready runs. */
  readonly ready: number
  /** Number of workers that currently serve it. */
  readonly workers: number
}

export interface WireToken {
  readonly id: string
  readonly name: string
  readonly role: Role
  /** Null for a token of the whole installation. */
  readonly project: string | null
  /** The last characters of the token, to recognise it. */
  readonly ending: string
  readonly created_at: string
  readonly created_by: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly last_used_at: string | null
}

/** The only answer that contains the token itself. */
export interface WireNewToken extends WireToken {
  readonly token: string
}

export interface WireStorage {
  /** Values larger than this are stored as blobs. */
  readonly inline_bytes: number
  readonly blobs: {
    readonly kind: string
    readonly place: string
    readonly writable: boolean
    readonly reason: string | null
  }
  readonly store: {
    readonly kind: string
    readonly place: string
    readonly writable: boolean
    readonly reason: string | null
    /** Null if only the database server knows. */
    readonly free_bytes: number | null
  }
}

/** The metadata of a secret, without its value. */
export interface WireSecret {
  readonly name: string
  readonly version: number
  readonly updated_at: string
  /** The name of the token that set it. */
  readonly updated_by: string
  /** The id of the key that encrypts it. */
  readonly key: string
}

export interface WireSecretKeys {
  /** All keys that encrypt secrets. */
  readonly keys: readonly { readonly id: string; readonly secrets: number }[]
}

export interface WireRotation extends WireSecretKeys {
  /** The current encryption key. */
  readonly key: string
  /** Number of re-encrypted secrets. */
  readonly resealed: number
  /** Names of secrets that could not be decrypted and remain unchanged. */
  readonly broken: readonly string[]
}

export interface WireAudit {
  readonly id: string
  readonly at: string
  readonly project: string | null
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly detail: unknown
  readonly request_id: string | null
  readonly address: string | null
}

export interface WireWorker {
  /** A public id; it does not authenticate the worker. */
  readonly id: string
  readonly name: string
  readonly queues: readonly string[]
  readonly labels: Labels
  /** Users that runs may request. */
  readonly users: readonly string[]
  readonly executors: readonly string[]
  /** Capabilities beyond the first version of the protocol. */
  readonly features: readonly string[]
  readonly projects: readonly string[]
  /** `quarantined`: it takes no runs because it failed to start any; `reason` contains the error. */
  readonly state: 'active' | 'quarantined'
  readonly reason: string | null
  readonly slots: number
  readonly running: number
  /** Number of used slots. */
  readonly used: number
  readonly node: string
  readonly registered_at: string
  /** Null if it starts no processes. */
  readonly execution: Execution | null
}

export interface WireAttempt {
  readonly attempt: number
  readonly state:
    | 'waiting'
    | 'running'
    | 'succeeded'
    | 'failed'
    | 'cancelled'
    | 'skipped'
    | 'retried'
  readonly cause: string | null
  readonly message: string | null
  readonly worker: string | null
  readonly exit_code: number | null
  readonly signal: string | null
  readonly started_at: string | null
  readonly finished_at: string | null
}

/** One line of a log, or the beginning of a line that is still being written. */
export interface WireLogLine {
  readonly line: number
  readonly at: string
  readonly stream: 'stdout' | 'stderr' | 'punctual'
  readonly text: string
  /** The marker in the line: a group, an error or progress. */
  readonly mark?: OutputMarker
  /** The line is longer than the shown text. */
  readonly cut?: true
}

export interface WireLog {
  readonly run: string
  readonly attempt: number
  readonly lines: readonly WireLogLine[]
  /** Where to continue reading. */
  readonly next_line: number
  /** No more lines will follow. */
  readonly complete: boolean
  /** Bytes left out beyond the limit. */
  readonly dropped: number
}

/** A matching line of a log search. */
export interface WireLogHit {
  readonly line: number
  readonly at: string
  readonly stream: WireLogLine['stream']
  /** Column of the match in the line, in characters without colour codes. */
  readonly column: number
  readonly length: number
  /** The text around the match, without colour codes. */
  readonly text: string
  /** The column at which `text` begins. */
  readonly text_column: number
}

export interface WireLogSearch {
  readonly run: string
  readonly attempt: number
  readonly hits: readonly WireLogHit[]
  /** Where to continue searching. */
  readonly next_line: number
  /** There is nothing more to search, now or later. */
  readonly complete: boolean
}

/** Machine-readable reasons for the state of a run. Codes are only ever added. */
export const WHY_CODES = [
  'not_due',
  'retry_back_off',
  'key_taken',
  'overlap',
  'wave',
  'after',
  'approval',
  'passing',
  'node_out_of_touch',
  'project_paused',
  'queue_paused',
  'no_worker',
  'no_fitting_worker',
  'workers_quarantined',
  'rate_limited',
  'workers_busy',
  'starting',
  'awaiting_worker',
  'running',
  'stopping',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
] as const
export type WhyCode = (typeof WHY_CODES)[number]

/** Why a run is in its state, and what can be done about it. */
export interface WireWhy {
  readonly run: string
  readonly state: string
  readonly code: WhyCode
  readonly sentence: string
  readonly details: readonly string[]
  readonly fixes: readonly string[]
  /** The reported progress. */
  readonly progress: WireProgress | null
}
