import type { BackfillState, Order, Which } from './backfill.ts'

/** A backfill as people ask for it. */
export interface BackfillRequest {
  readonly from: string
  /** Now, if it is not said. */
  readonly until?: string | undefined
  readonly order?: Order | undefined
  readonly which?: Which | undefined
  readonly max_parallel?: number | undefined
  readonly per_minute?: number | undefined
  readonly priority?: number | undefined
  readonly dry_run?: boolean | undefined
}

interface Asked {
  readonly job: string
  readonly schedule: string
  readonly from: string
  readonly until: string
  readonly order: Order
  readonly which: Which
  readonly max_parallel: number
  readonly per_minute: number | null
  readonly priority: number
  /** How many times there are in the range. */
  readonly times: number
}

/** What a backfill would do. */
export interface WireBackfillPlan extends Asked {
  readonly dry_run: true
  /** How many of them would become runs, and the first of these. */
  readonly runs: number
  readonly first: readonly string[]
}

export interface WireBackfill extends Asked {
  readonly id: string
  readonly state: BackfillState
  /** How many became runs, and how many needed none. */
  readonly made: number
  readonly passed: number
  /** Its runs that had not ended when somebody last looked. */
  readonly open: number
  readonly error: string | null
  readonly created_at: string
  readonly finished_at: string | null
}
