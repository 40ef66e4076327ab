import type { Bucket, Rate } from '../../core/queue/rate.ts'
import type { AuditEntry } from './audit.ts'

/** What was said about queues. A queue nobody spoke of has no row and no limits. */
export interface QueueStore {
  putQueue(input: QueueSetting & { readonly audit: AuditEntry }): Promise<void>
  /** Of every project: there are few, and a node must know which ones rest. */
  listQueues(): Promise<readonly QueueRecord[]>
  /** Ready runs per lane, for those that have any. */
  laneDepths(): Promise<readonly { readonly laneId: number; readonly ready: number }[]>
}

export interface QueueSetting {
  readonly projectId: number
  /** The name of a queue, or `*` for all of the project. */
  readonly name: string
  /** Nothing is claimed from it. */
  readonly paused: boolean
  /** For runs that ask for none. */
  readonly defaultTimeoutMs: number | null
  /** For all runs, whatever they ask for. */
  readonly maxTimeoutMs: number | null
  /** How often attempts may start; what was used up stays so when it changes. */
  readonly rate: Rate | null
}

export interface QueueRecord extends QueueSetting {
  /** What is used up of the rate. */
  readonly bucket: Bucket
}
