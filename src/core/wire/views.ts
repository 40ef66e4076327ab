import type { Execution } from '../worker/execution.ts'
import type { JobDefinition } from '../job/job-definition.ts'
import type { Role } from '../permission.ts'
import type { Labels } from '../worker/labels.ts'
import type { WireSchedule } from '../schedule/definition/schedule-views.ts'
import type { Mark } from '../text/markers.ts'
import type { FinalState } from '../run/run-state.ts'
import type { WireProgress } from './runs.ts'
import type { WebhookEvent } from '../webhook/webhook.ts'
import type { DeliveryState } from '../webhook/delivery.ts'

/**
 * What the API shows besides runs, as it travels. Server, client and command line share these; a
 * field is only ever added.
 */

/** A page of a list. `next_cursor` asks for the following one; null at the end. */
export interface WirePage<Item> {
  readonly data: readonly Item[]
  readonly next_cursor: string | null
}

export interface WireJob {
  readonly name: string
  readonly version: number
  readonly definition: JobDefinition
  readonly paused: { readonly since: string; readonly reason: string | null } | null
  readonly updated_at: string
  /** The name of the token it was defined with. */
  readonly updated_by: string
  /** When it runs by itself. Not in lists. */
  readonly schedules?: readonly WireSchedule[]
  /** The jobs that run after it. Not in lists. */
  readonly followers?: readonly string[]
  /** The latest ends it was to run after, newest first. Not in lists. */
  readonly follow_ups?: readonly WireFollowUp[]
}

/** A run ended, and a job was to run after it. */
export interface WireFollowUp {
  /** The run that ended, and of which job, and how. */
  readonly after: string
  readonly job: string
  readonly state: FinalState
  readonly at: string
  /** The run it became. */
  readonly run: string | null
  /** Why it became none. */
  readonly reason: string | null
}

export interface WireJobVersion {
  readonly version: number
  readonly definition: JobDefinition
  readonly created_at: string
  readonly created_by: string
}

export interface WireQueue {
  readonly name: string
  readonly paused: boolean
  readonly default_timeout_ms: number | null
  readonly max_timeout_ms: number | null
  readonly rate: { readonly limit: number; readonly per_ms: number; readonly burst: number } | null
  /** Runs that stand in line now. */
  readonly ready: number
  /** Workers that serve it now. */
  readonly workers: number
}

export interface WireToken {
  readonly id: string
  readonly name: string
  readonly role: Role
  /** Null for a token of the whole installation. */
  readonly project: string | null
  /** Its last characters, by which people recognise it. */
  readonly ending: string
  readonly created_at: string
  readonly created_by: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly last_used_at: string | null
}

/** The only time a token is shown. */
export interface WireNewToken extends WireToken {
  readonly token: string
}

export interface WireStorage {
  /** What is larger than this is a blob. */
  readonly inline_bytes: number
  readonly blobs: {
    readonly kind: string
    readonly place: string
    readonly writable: boolean
    readonly reason: string | null
  }
}

/** Everything about a secret but itself. */
export interface WireSecret {
  readonly name: string
  readonly version: number
  readonly updated_at: string
  /** The name of the token it was set with. */
  readonly updated_by: string
  /** The id of the key it is sealed with. */
  readonly key: string
}

export interface WireSecretKeys {
  /** Every key that secrets are sealed with. */
  readonly keys: readonly { readonly id: string; readonly secrets: number }[]
}

export interface WireRotation extends WireSecretKeys {
  /** The key that everything is sealed with now. */
  readonly key: string
  /** How many secrets were sealed anew. */
  readonly resealed: number
  /** Names of secrets that could not be opened, and are as they were. */
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
  readonly session: string
  readonly name: string
  readonly queues: readonly string[]
  readonly labels: Labels
  /** Users that runs may ask for. */
  readonly users: readonly string[]
  readonly executors: readonly string[]
  /** What it understands beyond the first version of the protocol. */
  readonly features: readonly string[]
  readonly projects: readonly string[]
  /** `quarantined`: it takes nothing, because it could start nothing; `reason` says what went wrong. */
  readonly state: 'active' | 'quarantined'
  readonly reason: string | null
  readonly slots: number
  readonly running: number
  /** Slots that are taken. */
  readonly used: number
  readonly node: string
  readonly registered_at: string
  /** Null if it starts no processes. */
  readonly execution: Execution | null
}

export interface WireWebhook {
  readonly name: string
  readonly url: string
  readonly events: readonly WebhookEvent[]
  /** Null for all jobs of the project. */
  readonly jobs: readonly string[] | null
  readonly enabled: boolean
  readonly disabled_reason: string | null
  /** The last characters of its secret, by which people recognise it. */
  readonly secret_ending: string
  readonly previous_secret_until: string | null
  readonly failing_since: string | null
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
}

/** The only time its secret is shown. */
export interface WireNewWebhook extends WireWebhook {
  readonly secret: string
}

/** One message to one endpoint. */
export interface WireDelivery {
  readonly id: string
  readonly event: string
  /** Null for a test. */
  readonly run: string | null
  readonly state: DeliveryState
  readonly attempts: number
  readonly status: number | null
  readonly error: string | null
  readonly took_ms: number | null
  readonly created_at: string
  readonly last_attempt_at: string | null
  readonly next_attempt_at: string | null
}

export interface WireDeliveryDetail extends WireDelivery {
  readonly body: unknown
}

export interface WireAttempt {
  readonly attempt: number
  readonly state: 'running' | 'succeeded' | 'failed' | 'cancelled' | 'skipped' | 'retried'
  readonly cause: string | null
  readonly message: string | null
  readonly worker: string | null
  readonly exit_code: number | null
  readonly signal: string | null
  readonly started_at: string | null
  readonly finished_at: string | null
}

/** One line of a log, or the beginning of one that is still being written. */
export interface WireLogLine {
  readonly line: number
  readonly at: string
  readonly stream: 'stdout' | 'stderr' | 'punctual'
  readonly text: string
  /** What the line says about the process: a group begins, an error, how far it is. */
  readonly mark?: Mark
  /** It is longer than what is shown here. */
  readonly cut?: true
}

export interface WireLog {
  readonly run: string
  readonly attempt: number
  readonly lines: readonly WireLogLine[]
  /** Where to go on reading. */
  readonly next_line: number
  /** No more lines will come. */
  readonly complete: boolean
  /** Bytes that were left out because they were too many. */
  readonly dropped: number
}

/** A line in which something was found. */
export interface WireLogHit {
  readonly line: number
  readonly at: string
  readonly stream: WireLogLine['stream']
  /** Where it begins in the line, in characters, colours not counted. */
  readonly column: number
  readonly length: number
  /** The line around it, without colours. */
  readonly text: string
  /** The column at which `text` begins. */
  readonly text_column: number
}

export interface WireLogSearch {
  readonly run: string
  readonly attempt: number
  readonly hits: readonly WireLogHit[]
  /** Where to go on searching. */
  readonly next_line: number
  /** There is nothing more to search, now or later. */
  readonly complete: boolean
}

/** For programs: what keeps a run, or what became of it. A code is only ever added. */
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
  'running',
  'stopping',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
] as const
export type WhyCode = (typeof WHY_CODES)[number]

/** Why a run is where it is, and what can be done about it. */
export interface WireWhy {
  readonly run: string
  readonly state: string
  readonly code: WhyCode
  readonly sentence: string
  readonly details: readonly string[]
  readonly fixes: readonly string[]
  /** How far it says it is. */
  readonly progress: WireProgress | null
}
