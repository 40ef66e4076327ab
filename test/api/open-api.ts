import type { TestContext } from 'node:test'
import {
  type ListenOptions,
  openScheduler,
  type Scheduler,
  type SchedulerOptions,
} from '../../src/main/scheduler.ts'
import { DEFAULT_WORKER_QUEUES } from '../../src/core/queue/default-queues.ts'
import { createWorker, type Worker, type WorkerOptions } from '../../src/worker/index.ts'
import { LONG_TIMEOUTS } from '../support/long-timeouts.ts'
import { keysInMemory } from '../support/secret-keys.ts'

export const ROOT_TOKEN = `punctual_root_${'x'.repeat(40)}`

export interface ApiAnswer<T> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
}

/** A whole scheduler with a socket, and a short way to call it. */
export interface OpenApi {
  readonly url: string
  readonly scheduler: Scheduler
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options?: { body?: unknown; token?: string | null; headers?: Record<string, string> },
  ): Promise<ApiAnswer<T>>
  /** A token with this role in this project. */
  token(role: string, project?: string): Promise<string>
  startWorker(options?: Partial<WorkerOptions>): Promise<Worker>
}

export async function openApi(
  t: TestContext,
  options: Partial<
    Pick<SchedulerOptions, 'store' | 'blobs' | 'config' | 'secretKeys' | 'allowAddresses' | 'clock'>
  > = {},
  listening: Partial<ListenOptions> = {},
): Promise<OpenApi> {
  const scheduler = await openScheduler({
    store: 'sqlite::memory:',
    secretKeys: keysInMemory('k1'),
    ...options,
    config: { ...(options.config?.leaseTtlMs === undefined && LONG_TIMEOUTS), ...options.config },
    rootToken: ROOT_TOKEN,
    onError: (error) => t.diagnostic(String(error)),
  })
  const workers: Worker[] = []
  t.after(async () => {
    // While the server can still take their reports.
    await Promise.all(workers.map((worker) => worker.drain(0)))
    await scheduler.stop()
  })
  const url = await scheduler.listen({ host: '127.0.0.1', port: 0, ...listening })
  let tokens = 0

  const api: OpenApi = {
    url,
    scheduler,
    async call(method, path, { body, token = ROOT_TOKEN, headers = {} } = {}) {
      const answer = await fetch(url + path, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: answer.status, headers: answer.headers, body: (await read(answer)) as never }
    },
    async token(role, project = 'default') {
      tokens += 1
      const { body } = await api.call<{ token: string }>('POST', '/v1/tokens', {
        body: { name: `t${tokens}`, role },
        headers: { 'punctual-project': project },
      })
      return body.token
    },
    async startWorker(more = {}) {
      const worker = createWorker({
        client: scheduler.clientFor('default'),
        name: 'w1',
        queues: DEFAULT_WORKER_QUEUES,
        slots: 4,
        processes: {},
        onError: (error) => t.diagnostic(String(error)),
        ...more,
      })
      workers.push(worker)
      await worker.start()
      return worker
    },
  }
  return api
}

/** An event stream does not end: its start is the answer. */
async function read(answer: Response): Promise<unknown> {
  const type = answer.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream')) {
    await answer.body?.cancel()
    return ''
  }
  const text = await answer.text()
  return type.includes('json') ? JSON.parse(text) : text
}
