import type { BackfillState, BackfillOrder, BackfillSelection } from './backfill.ts'

/** A backfill request as the API accepts it. */
export interface BackfillRequest {
  readonly from: string
  /** Defaults to the current time. */
  readonly until?: string | undefined
  readonly order?: BackfillOrder | undefined
  readonly which?: BackfillSelection | undefined
  readonly max_parallel?: number | undefined
  readonly per_minute?: number | undefined
  readonly priority?: number | undefined
  readonly dry_run?: boolean | undefined
}

interface BackfillParameters {
  readonly job: string
  readonly schedule: string
  readonly from: string
  readonly until: string
  readonly order: BackfillOrder
  readonly which: BackfillSelection
  readonly max_parallel: number
  readonly per_minute: number | null
  readonly priority: number
  /** Number of times in the range. */
  readonly times: number
}

/** The answer to a dry run. */
export interface WireBackfillPlan extends BackfillParameters {
  readonly dry_run: true
  /** How many of the times would become runs, and the first of these times. */
  readonly runs: number
  readonly first: readonly string[]
}

export interface WireBackfill extends BackfillParameters {
  readonly id: string
  readonly state: BackfillState
  /** How many times became runs, and how many needed none. */
  readonly made: number
  readonly passed: number
  /** Its runs that had not ended at the last check. */
  readonly open: number
  readonly error: string | null
  readonly created_at: string
  readonly finished_at: string | null
}
