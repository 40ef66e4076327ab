import { LIMITS } from '../../src/core/limits.ts'
import { hostileInputs } from './hostile-inputs.ts'
import { hostileReports } from './hostile-reports.ts'
import { hostileWorkflows } from './hostile-workflows.ts'

/** Sends a request and resolves with status and body. A string or buffer body is sent unchanged. */
export type Send = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: unknown,
) => Promise<{ readonly status: number; readonly text: string }>

/** A request within the limits that tries to block the event loop for as long as possible. */
export interface HostileRequest {
  readonly name: string
  /** Creates what the request needs; not measured. */
  prepare?(send: Send): Promise<void>
  send(send: Send): Promise<{ readonly status: number }>
  /** Expected status; another one means that the benchmark measures something else. */
  readonly status: number
}

export function hostilePost(name: string, path: string, body: () => unknown, status = 200) {
  return request(name, 'POST', path, body, status)
}

export function hostilePut(name: string, path: string, body: () => unknown, status = 201) {
  return request(name, 'PUT', path, body, status)
}

export function hostileGet(name: string, path: string, status = 200): HostileRequest {
  return { name, status, send: (send) => send('GET', path) }
}

function request(
  name: string,
  method: 'POST' | 'PUT',
  path: string,
  body: () => unknown,
  status: number,
): HostileRequest {
  let bytes: Buffer | undefined
  return {
    name,
    status,
    async prepare() {
      const content = body()
      bytes = Buffer.isBuffer(content)
        ? content
        : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content))
    },
    async send(send) {
      const answer = await send(method, path, bytes)
      bytes = undefined
      return answer
    },
  }
}

const MB = 2 ** 20
const BATCH = '/v1/runs:batch'

/** A JSON array that repeats the same JSON text. */
export function jsonListOf(item: string, count: number): string {
  return `[${`${item},`.repeat(count - 1)}${item}]`
}

function batch(count: number, run: (index: number) => object): string {
  return JSON.stringify({ runs: Array.from({ length: count }, (_, index) => run(index)) })
}

const MAX_TAGS = Object.fromEntries(
  Array.from({ length: LIMITS.tags }, (_, index) => [`tag-${index}`, 'x'.repeat(100)]),
)

const batches: readonly HostileRequest[] = [
  hostilePost('batch of 10,000 runs', BATCH, () =>
    batch(LIMITS.batchRuns, () => ({ job: 'small' })),
  ),
  hostilePost('batch of 10,000 runs with keys and 32 tags each', BATCH, () =>
    batch(LIMITS.batchRuns, (index) => ({
      job: 'tagged',
      tags: MAX_TAGS,
      idempotency_key: `tagged-${index}`,
      priority: 3,
      timeout: '1h30m',
      retry: { max: 3, delay: '5s' },
    })),
  ),
  hostilePost('batch of 60 MB: 10,000 inputs of 6 KB', BATCH, () => {
    const run = `{"job":"wide","input":${jsonListOf('123', 1_500)}}`
    return `{"runs":${jsonListOf(run, LIMITS.batchRuns)}}`
  }),
  hostilePost('batch of 60 MB: 7 inputs of 8 MB', BATCH, () => {
    const run = `{"job":"large","input":${jsonListOf('1234567', MB - 64)}}`
    return `{"runs":${jsonListOf(run, 7)}}`
  }),
  hostilePost(
    'batch of 60 MB that is no JSON at its end',
    BATCH,
    () =>
      `{"runs":${jsonListOf(`{"job":"wide","input":${jsonListOf('123', 1_500)}}`, LIMITS.batchRuns)}`,
    400,
  ),
  hostilePost(
    'batch of 10,000 runs of which the last is wrong',
    BATCH,
    () =>
      batch(LIMITS.batchRuns, (index) => ({
        job: 'tagged',
        tags: MAX_TAGS,
        priority: index === 9_999 ? 99 : 0,
      })),
    422,
  ),
  hostilePost(
    'batch of 10,000 runs with secrets that are not there',
    BATCH,
    () => batch(LIMITS.batchRuns, (index) => ({ run: 'true', secrets: [`ABSENT_${index}`] })),
    404,
  ),
]

const filter = (text: string) => `/v1/runs?q=${encodeURIComponent(text)}`
const MAX_FILTER_LENGTH = 1_990

const readRequests: readonly HostileRequest[] = [
  hostileGet('filter: a thousand values', filter(`job:${'a,'.repeat(990)}a`)),
  hostileGet('filter: values in quotes', filter(`job:${'"a,b",'.repeat(320)}a`)),
  hostileGet('filter: commas in one quote', filter(`job:"${','.repeat(MAX_FILTER_LENGTH - 20)}"`)),
  hostileGet('filter: quotes that are odd', filter(`job:${'"",'.repeat(640)}"a"`), 422),
  hostileGet('filter: a thousand stars', filter(`job:${'a*'.repeat(900)}`)),
  hostileGet('filter: many tags', filter('tag.a:b '.repeat(240))),
  hostileGet('filter that fits no run', filter('tag.none:none')),
  hostileGet('page of 500 runs', '/v1/runs?limit=500'),
  hostileGet('metrics', '/metrics'),
  hostileGet('reference', '/openapi.json'),
]

const preview = (name: string, rule: object, status = 200) =>
  hostilePost(`preview: ${name}`, '/v1/schedules/preview', () => ({ ...rule, count: 500 }), status)

const ALL_SECONDS = Array.from({ length: 60 }, (_, second) => second).join(',')

const schedules: readonly HostileRequest[] = [
  preview('a cron that never fires', { cron: '0 0 30 2 *' }, 422),
  preview('a cron that fires every 28 years', { cron: '0 0 29 2 1#5', zone: 'Europe/Berlin' }),
  preview('a cron of 1,000 characters', { cron: `${`${ALL_SECONDS},`.repeat(5)}1 * * * * *` }),
  preview('a cron of 8 KB', { cron: `${`${ALL_SECONDS},`.repeat(40)}1 * * * * *` }, 422),
  preview('the last weekday of leap years', { cron: '0 0 0 LW 2 *', zone: 'America/New_York' }),
  {
    name: 'forecast of a year: 1,000 schedules of every second',
    status: 200,
    async prepare(send) {
      const schedule = Array.from({ length: LIMITS.schedules }, (_, index) => ({
        cron: `${index % 60} * * * * *`,
        end: '2039-01-01T00:00:00Z',
        zone: index % 2 === 0 ? 'Europe/Berlin' : 'America/New_York',
      }))
      await send('PUT', '/v1/jobs/ticking', { run: 'true', schedule })
    },
    send: (send) => send('GET', '/v1/forecast?days=366&limit=500'),
  },
  hostileGet('times of 1,000 schedules', '/v1/schedules/next?limit=500'),
  hostilePost('backfill of a minute: dry run', '/v1/jobs/ticking/schedules/1/backfill', () => ({
    from: '2026-11-01T00:00:00Z',
    until: '2026-11-07T00:00:00Z',
    dry_run: true,
  })),
]

export const HOSTILE_REQUESTS: readonly HostileRequest[] = [
  ...hostileInputs(),
  ...batches,
  ...hostileWorkflows(),
  ...schedules,
  ...hostileReports(),
  ...readRequests,
]
