import type { WireJobStep, WireStep, WireStepItem } from '../core/workflow/views/step-views.ts'
import type { ShownStepState } from '../core/wire/workflow-view.ts'
import type { WirePage, WireWhy } from '../core/wire/views.ts'
import { type JsonCall, jsonCalls, search } from './json-calls.ts'
import type { Transport } from './transport.ts'

/** The steps of workflows: their states and reasons, and decisions about them. */
export interface StepClient {
  /** One page, in the order of the definition. */
  list(run: string, query?: StepQuery): Promise<WirePage<WireStep>>
  /** All steps; pages are requested on demand. */
  each(run: string, query?: Omit<StepQuery, 'cursor'>): AsyncGenerator<WireStep, void, undefined>
  get(run: string, step: string): Promise<WireStep>
  /** The items of a fan-out that have started. */
  items(run: string, step: string, paging?: StepPaging): Promise<WirePage<WireStepItem>>
  /** Approves a step, with the input it requests. */
  approve(run: string, step: string, answer?: StepApproval): Promise<WireStep>
  refuse(run: string, step: string, answer?: { readonly message?: string }): Promise<WireStep>
  /** Skips a step that has not started, or one item of a fan-out. */
  skip(run: string, step: string, what?: { readonly item?: number }): Promise<WireStep>
  /** The steps of a job's current definition, with their recent statistics. */
  ofJob(job: string, paging?: StepPaging): Promise<WirePage<WireJobStep>>
  /** What a run is doing or waiting for. */
  why(run: string): Promise<WireWhy>
}

export interface StepPaging {
  readonly limit?: number
  readonly cursor?: string
}

export interface StepQuery extends StepPaging {
  readonly state?: ShownStepState
}

export interface StepApproval {
  readonly input?: unknown
  readonly message?: string
}

/** The largest page, to need as few requests as possible. */
const PAGE = 500

export function createStepClient(transport: Transport): StepClient {
  const call: JsonCall = jsonCalls(transport)
  const runPath = (run: string) => `/v1/runs/${encodeURIComponent(run)}`
  const pathOf = (run: string, step: string) => `${runPath(run)}/steps/${encodeURIComponent(step)}`
  const list: StepClient['list'] = (run, query = {}) =>
    call('GET', `${runPath(run)}/steps${search(query)}`)
  return {
    list,
    async *each(run, query = {}) {
      let cursor: string | null | undefined
      do {
        const page = await list(run, { limit: PAGE, ...query, ...(cursor && { cursor }) })
        yield* page.data
        cursor = page.next_cursor
      } while (cursor !== null)
    },
    get: (run, step) => call('GET', pathOf(run, step)),
    items: (run, step, paging = {}) => call('GET', `${pathOf(run, step)}/items${search(paging)}`),
    approve: (run, step, answer = {}) => call('POST', `${pathOf(run, step)}/approve`, answer),
    refuse: (run, step, answer = {}) => call('POST', `${pathOf(run, step)}/refuse`, answer),
    skip: (run, step, what = {}) => call('POST', `${pathOf(run, step)}/skip`, what),
    ofJob: (job, paging = {}) =>
      call('GET', `/v1/jobs/${encodeURIComponent(job)}/steps${search(paging)}`),
    why: (run) => call('GET', `${runPath(run)}/why`),
  }
}
