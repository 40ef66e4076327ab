import type { WireForecast } from '../core/schedule/forecast/views.ts'
import type { SubmitAnswer } from '../core/wire/protocol.ts'
import type { ScheduleDefinition } from '../core/schedule/definition/schedule-definition.ts'
import type {
  ScheduleState,
  WireAway,
  WireNext,
  WireOccurrence,
  WirePreview,
  WireSchedule,
  WireScheduleWhy,
} from '../core/schedule/definition/schedule-views.ts'
import type { WirePage } from '../core/wire/views.ts'
import { jsonCalls, pathOfSchedule as pathOf, search } from './json-calls.ts'
import type { Transport } from './transport.ts'

/** Schedules of jobs, and the outcome of every time. */
export interface ScheduleClient {
  /** Creates or replaces a schedule: safe to repeat with every deployment. */
  put(job: string, name: string, definition: ScheduleDefinition): Promise<WireSchedule>
  get(job: string, name: string): Promise<WireSchedule>
  list(query?: ScheduleQuery): Promise<WirePage<WireSchedule>>
  delete(job: string, name: string): Promise<void>
  pause(
    job: string,
    name: string,
    pause?: { readonly until?: string; readonly reason?: string },
  ): Promise<WireSchedule>
  resume(job: string, name: string): Promise<WireSchedule>
  /** Skips the next time. */
  skip(job: string, name: string): Promise<WireSchedule>
  /** Starts a run like those of the schedule now. Safe to repeat with a key. */
  run(job: string, name: string, idempotencyKey?: string): Promise<SubmitAnswer>
  /** Planned and actual times. */
  occurrences(job: string, name: string, range?: OccurrenceQuery): Promise<WirePage<WireOccurrence>>
  why(job: string, name: string): Promise<WireScheduleWhy>
  next(query?: { readonly job?: string; readonly limit?: number }): Promise<readonly WireNext[]>
  /** The times of a definition. Nothing is stored. */
  preview(definition: ScheduleDefinition, count?: number): Promise<WirePreview>
  /** What all schedules, or those of a job, will do in the next days. */
  forecast(query?: {
    readonly days?: number
    readonly job?: string
    readonly limit?: number
  }): Promise<WireForecast>
  /** Times that did not fire in the ordinary way since a time; default: one day. */
  away(since?: string): Promise<WireAway>
}

export interface ScheduleQuery {
  readonly job?: string
  readonly state?: ScheduleState
  readonly limit?: number
  readonly cursor?: string
}

export interface OccurrenceQuery {
  readonly from?: string
  readonly until?: string
  readonly limit?: number
  readonly cursor?: string
}

export function createScheduleClient(transport: Transport): ScheduleClient {
  const call = jsonCalls(transport)
  return {
    put: (job, name, definition) => call('PUT', pathOf(job, name), definition),
    get: (job, name) => call('GET', pathOf(job, name)),
    list: (query = {}) => call('GET', `/v1/schedules${search(query)}`),
    delete: (job, name) => call('DELETE', pathOf(job, name)),
    pause: (job, name, pause = {}) => call('POST', `${pathOf(job, name)}/pause`, pause),
    resume: (job, name) => call('POST', `${pathOf(job, name)}/resume`, {}),
    skip: (job, name) => call('POST', `${pathOf(job, name)}/skip`, {}),
    run: (job, name, key) => call('POST', `${pathOf(job, name)}/run`, {}, key),
    occurrences: (job, name, range = {}) =>
      call('GET', `${pathOf(job, name)}/occurrences${search(range)}`),
    why: (job, name) => call('GET', `${pathOf(job, name)}/why`),
    next: async (query = {}) =>
      (await call<{ data: WireNext[] }>('GET', `/v1/schedules/next${search(query)}`)).data,
    preview: (definition, count) =>
      call('POST', '/v1/schedules/preview', count ? { ...definition, count } : definition),
    forecast: (query = {}) => call('GET', `/v1/forecast${search(query)}`),
    away: (since) => call('GET', `/v1/away${search({ since })}`),
  }
}
