import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveRun } from './find-run.ts'
import type { ServerCalls } from '../server/server-calls.ts'

test('a run is found by the UUID that the legacy protocols use', async () => {
  const asked: string[] = []
  const call = async (method: string, path: string) => {
    asked.push(`${method} ${path}`)
    return { id: 'run_00f3k9m2q7x' }
  }
  const uuid = '3C0FD294-25d7-86e8-8000-000000000007'
  assert.equal(await resolveRun({ call } as unknown as ServerCalls, uuid), 'run_00f3k9m2q7x')
  assert.deepEqual(asked, [`GET /v1/runs/${uuid}`])
})
