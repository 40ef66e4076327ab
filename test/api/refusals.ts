import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { ERRORS, type ErrorCode } from '../../src/core/errors.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from './open-api.ts'

/** A request sent exactly as given: no library changes its path or bytes. */
export interface RawRequest {
  readonly method: string
  readonly path: string
  /** Sent as JSON; text and bytes as they are. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The name of the case, the request, and the expected problem and field. */
export type Refusal = [why: string, sent: RawRequest, code: ErrorCode, field?: string]

export const getRequest = (path: string, headers = {}): RawRequest => ({
  method: 'GET',
  path,
  headers,
})
export const postRequest = (path: string, body: unknown, headers = {}): RawRequest => {
  return { method: 'POST', path, body, headers }
}
export const putRequest = (path: string, body: unknown, headers = {}): RawRequest => {
  return { method: 'PUT', path, body, headers }
}
export const submitRequest = (run: object) => postRequest('/v1/runs', { job: 'a', ...run })
export const batchRequest = (...runs: readonly object[]) => postRequest('/v1/runs:batch', { runs })

/**
 * A whole node with a database refuses each request with one short problem that names the field. Afterwards
 * nothing is stored, nothing is polluted, and the node answers as before.
 */
export function assertRefused(what: string, table: readonly Refusal[]): void {
  test(what, async (t) => {
    const api = await openApi(t)
    // An existing object, in case something leaks into it.
    await api.call('PUT', '/v1/jobs/known', { body: { run: 'true' } })
    await api.call('POST', '/v1/runs', { body: { job: 'known', queue: 'rest' } })
    const before = await everythingIn(api)
    for (const [why, sent, code, field] of table) {
      await t.test(why, async () => {
        const { status, text } = await send(api, sent)
        assert.match(text, /^\{/, `${status} ${text.slice(0, 200)}`)
        const problem = JSON.parse(text) as Record<string, unknown>
        const got = [status, problem['code'], problem['field']]
        assert.deepEqual(got, [ERRORS[code][0], code, field], text.slice(0, 500))
        for (const part of ['title', 'detail', 'hint', 'request_id']) assert.ok(problem[part], part)
        assert.ok(text.length < 2_000, 'a problem is short, whatever was sent')
      })
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined)
    assert.deepEqual(await everythingIn(api), before)
    assert.equal((await api.call('GET', '/livez')).status, 200)
  })
}

/** All stored state that users can see. */
export async function everythingIn({ call }: OpenApi): Promise<unknown[]> {
  const paths = ['/v1/runs?limit=500', '/v1/jobs', '/v1/queues', '/v1/workers', '/v1/tokens']
  const seen = [...paths, '/v1/schedules', '/v1/webhooks', '/v1/audit'].map(
    async (path) => (await call('GET', path)).body,
  )
  return Promise.all(seen)
}

export async function send(
  { url }: OpenApi,
  { method, path, body, headers = {} }: RawRequest,
): Promise<{ status: number; text: string }> {
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
  const payload = isRaw || body === undefined ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        path,
        headers: {
          authorization: `Bearer ${ROOT_TOKEN}`,
          ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => (text += chunk))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      },
    )
    sent.on('error', reject)
    sent.end(payload)
  })
}

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
