import type { JobDefinition } from '../core/job/job-definition.ts'
import type { SubmitAnswer } from '../core/wire/protocol.ts'
import type { WirePage } from '../core/wire/views.ts'
import type { WireJobVersion, WireJob } from '../core/job/job-views.ts'
import { jsonCalls, search } from './json-calls.ts'
import type { Transport } from './transport.ts'

/** Definitions of jobs, including workflows. */
export interface JobClient {
  /** Creates or replaces a job: safe to repeat with every deployment. */
  put(name: string, definition: JobDefinition): Promise<WireJob>
  get(name: string): Promise<WireJob>
  /** Ordered by name. */
  list(paging?: JobPaging): Promise<WirePage<WireJob>>
  /** Newest first. */
  versions(name: string, paging?: JobPaging): Promise<WirePage<WireJobVersion>>
  delete(name: string): Promise<void>
  pause(name: string, pause?: { readonly reason?: string }): Promise<WireJob>
  resume(name: string): Promise<WireJob>
  /** Safe to repeat with a key. */
  run(
    name: string,
    run?: { readonly input?: unknown },
    idempotencyKey?: string,
  ): Promise<SubmitAnswer>
}

export interface JobPaging {
  readonly limit?: number
  readonly cursor?: string
}

export function createJobClient(transport: Transport): JobClient {
  const call = jsonCalls(transport)
  const pathOf = (name: string) => `/v1/jobs/${encodeURIComponent(name)}`
  return {
    put: (name, definition) => call('PUT', pathOf(name), definition),
    get: (name) => call('GET', pathOf(name)),
    list: (paging = {}) => call('GET', `/v1/jobs${search(paging)}`),
    versions: (name, paging = {}) => call('GET', `${pathOf(name)}/versions${search(paging)}`),
    delete: (name) => call('DELETE', pathOf(name)),
    pause: (name, pause = {}) => call('POST', `${pathOf(name)}/pause`, pause),
    resume: (name) => call('POST', `${pathOf(name)}/resume`, {}),
    run: (name, run = {}, key) => call('POST', `${pathOf(name)}/runs`, run, key),
  }
}
