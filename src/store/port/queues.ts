import type { Bucket, Rate } from '../../core/queue/rate.ts'
import type { AuditEntry } from './audit.ts'

/** Queue settings. A queue without settings has no row and no limits. */
export interface QueueStore {
  putQueue(input: QueueSetting & { readonly audit: AuditEntry }): Promise<void>
  /** Of every project: there are few, and a node must know which queues are paused. */
  listQueues(): Promise<readonly QueueRecord[]>
  /** Ready runs per lane, for the lanes that have any. */
  laneDepths(): Promise<readonly { readonly laneId: number; readonly ready: number }[]>
}

export interface QueueSetting {
  readonly projectId: number
  /** The name of a queue, or `*` for all queues of the project. */
  readonly name: string
  /** Workers claim nothing from it. */
  readonly paused: boolean
  /** For runs that set none. */
  readonly defaultTimeoutMs: number | null
  /** For all runs, whatever they set. */
  readonly maxTimeoutMs: number | null
  /** How often attempts may start. What was used up stays used up when the rate changes. */
  readonly rate: Rate | null
}

export interface QueueRecord extends QueueSetting {
  /** How much of the rate is used up. */
  readonly bucket: Bucket
}
