import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { ERRORS, type ErrorCode } from '../../../core/errors.ts'
import { createFakeSchedulerClient, createTestApi, TEST_TOKEN } from './fake-scheduler.ts'

/** The test title, the request, and the field that the answer names. */
export type BadInput = [why: string, request: InjectOptions, field?: string]

const scheduler = createFakeSchedulerClient()
const api = createTestApi(scheduler)
after(() => api.close())

/** Each request gets this problem, complete and short, and never reaches the scheduler. */
export function testRefusals(code: ErrorCode, table: readonly BadInput[]): void {
  const [status] = ERRORS[code]
  describe(`${status} ${code}`, () => {
    for (const [why, request, field] of table) {
      test(why, async () => {
        const reply = await api.inject(request)
        const problem = reply.json<Record<string, unknown>>()
        const got = [reply.statusCode, problem.status, problem.code, problem.field]
        assert.deepEqual(got, [status, status, code, field], reply.body)
        assert.match(String(reply.headers['content-type']), /^application\/problem\+json\b/)
        assert.equal(problem.type, `/errors/${code}`)
        for (const part of ['title', 'detail', 'hint', 'request_id']) assert.ok(problem[part], part)
        assert.ok(reply.body.length < 2_000, 'a problem is short, whatever was sent')
        assert.deepEqual(scheduler.submitted, [], 'nothing reached the scheduler')
      })
    }
  })
}

const authorization = `Bearer ${TEST_TOKEN}`

export function getRequest(url: string, headers: object = {}): InjectOptions {
  return { method: 'GET', url, headers: { authorization, ...headers } }
}

export function postRequest(
  url: string,
  payload: string | Buffer,
  headers: object = {},
): InjectOptions {
  const type = { 'content-type': 'application/json' }
  return { method: 'POST', url, headers: { authorization, ...type, ...headers }, payload }
}

/** A body exactly as written. */
export function rawRequest(payload: string | Buffer, headers: object = {}): InjectOptions {
  return postRequest('/v1/runs', payload, headers)
}

export function submitRequest(run: object): InjectOptions {
  return rawRequest(JSON.stringify({ job: 'a', ...run }))
}

export function batchRequest(...runs: unknown[]): InjectOptions {
  return postRequest('/v1/runs:batch', JSON.stringify({ runs }))
}
