import type {
  BackfillRequest,
  WireBackfill,
  WireBackfillPlan,
} from '../core/schedule/backfill/views.ts'
import type { WirePage } from '../core/wire/views.ts'
import { jsonCalls, pathOfSchedule, search } from './json-calls.ts'
import type { Transport } from './transport.ts'

/** Backfills: runs for past times of schedules. */
export interface BackfillClient {
  /** What the backfill would do. Nothing is stored. */
  plan(job: string, schedule: string, request: BackfillRequest): Promise<WireBackfillPlan>
  /** Starts a backfill, which the server then runs in the background. */
  start(job: string, schedule: string, request: BackfillRequest): Promise<WireBackfill>
  get(id: string): Promise<WireBackfill>
  /** Newest first. */
  list(query?: {
    readonly limit?: number
    readonly cursor?: string
  }): Promise<WirePage<WireBackfill>>
  /** Stops creating runs; existing runs continue. */
  cancel(id: string): Promise<WireBackfill>
}

export function createBackfillClient(transport: Transport): BackfillClient {
  const call = jsonCalls(transport)
  const pathOf = (id: string) => `/v1/backfills/${encodeURIComponent(id)}`
  return {
    plan: (job, schedule, request) =>
      call('POST', `${pathOfSchedule(job, schedule)}/backfill`, { ...request, dry_run: true }),
    start: (job, schedule, request) =>
      call('POST', `${pathOfSchedule(job, schedule)}/backfill`, { ...request, dry_run: false }),
    get: (id) => call('GET', pathOf(id)),
    list: (query = {}) => call('GET', `/v1/backfills${search(query)}`),
    cancel: (id) => call('POST', `${pathOf(id)}/cancel`, {}),
  }
}
