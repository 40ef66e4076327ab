import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { WireRotation } from '../../src/core/wire/views.ts'
import { createWorker, type Handler } from '../../src/worker/index.ts'
import { openApi, type OpenApi } from '../api/open-api.ts'
import { type MemoryKeys, keysInMemory } from '../support/secret-keys.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'

/** More than one transaction seals again. */
const SECRETS = 120
const nameOf = (index: number) => `SECRET_${index}`
const valueOf = (index: number) => `value of ${index}`

/** Fails unless it gets the expected values. */
const check: Handler = (input, { secrets }) => {
  const { index } = input as { index: number }
  const value = secrets[nameOf(index)]
  if (value !== valueOf(index)) throw new Error(`it was given ${String(value?.length)} characters`)
}

/** Runs with secrets, one after the other, until stopped. None may be delayed. */
function startLoad({ call }: OpenApi) {
  let isOver = false
  let count = 0
  const submit = async () => {
    for (let index = 0; !isOver; index = (index + 1) % SECRETS) {
      const body = { job: 'check', input: { index }, secrets: [nameOf(index)] }
      const answer = await call<{ id: string }>('POST', '/v1/runs', { body })
      assert.equal(answer.status, 201)
      const path = `/v1/runs/${answer.body.id}?wait=60s`
      const run = await call<{ state: string; message: string }>('GET', path)
      assert.equal(run.body.state, 'succeeded', JSON.stringify(run.body))
      count += 1
    }
  }
  let hasFailed = false
  const done = submit()
  done.catch(() => {
    hasFailed = true
  })
  return {
    /** Throws if any run did not succeed. */
    stop() {
      isOver = true
      return done
    },
    count: () => count,
    hasFailed: () => hasFailed,
  }
}

async function rotateUnderLoad(t: TestContext, nodes: readonly [OpenApi, MemoryKeys][]) {
  const apis = nodes.map(([api]) => api)
  const [first] = apis as [OpenApi]
  for (const { scheduler } of apis) {
    const client = scheduler.clientFor('default')
    const worker = createWorker({ client, name: 'w', handlers: { check }, slots: 4 })
    t.after(() => worker.drain(0))
    await worker.start()
  }
  for (let index = 0; index < SECRETS; index += 1) {
    const body = { value: valueOf(index) }
    const { status } = await first.call('PUT', `/v1/secrets/${nameOf(index)}`, { body })
    assert.equal(status, 201)
  }
  const loads = apis.map(startLoad)
  const goOn = async () => {
    const wanted = loads.map(({ count }) => count() + 10)
    const isThere = () => loads.every(({ count }, index) => count() >= (wanted[index] ?? 0))
    const isHopeless = () => loads.some(({ hasFailed }) => hasFailed())
    await waitFor(() => isThere() || isHopeless(), { what: 'ten more runs' })
  }
  await goOn()
  // As an operator would add it: on one machine after the other.
  for (const [, keys] of nodes) keys.ids = ['k2', 'k1']
  const rotation = await waitFor(
    async () => {
      const answer = await first.call<WireRotation>('POST', '/v1/secret-keys/rotate', { body: {} })
      return answer.status === 200 ? answer.body : undefined
    },
    { what: 'every node to know the new key', deadlineMs: 60_000, intervalMs: 100 },
  )
  assert.deepEqual(rotation, {
    key: 'k2',
    resealed: SECRETS,
    broken: [],
    keys: [{ id: 'k2', secrets: SECRETS }],
  })
  // The old key is removed everywhere and no longer needed.
  for (const [, keys] of nodes) keys.ids = ['k2']
  await goOn()
  await Promise.all(loads.map((load) => load.stop()))
  t.diagnostic(`${loads.map(({ count }) => count()).join(' and ')} runs meanwhile`)
}

test('keys are rotated while runs with secrets continue, with SQLite', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-rotation-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const store = `sqlite:${dir}/punctual.db`
  const secretKeys = keysInMemory('k1')
  await rotateUnderLoad(t, [[await openApi(t, { store, secretKeys }), secretKeys]])
})

test('keys are rotated with two nodes on PostgreSQL whose files do not change at once', async (t) => {
  const store = await postgresUrl()
  const open = async (): Promise<[OpenApi, MemoryKeys]> => {
    const secretKeys = keysInMemory('k1')
    return [await openApi(t, { store, secretKeys }), secretKeys]
  }
  await rotateUnderLoad(t, [await open(), await open()])
  // A new node needs only the new key.
  await openApi(t, { store, secretKeys: keysInMemory('k2') })
  await assert.rejects(openApi(t, { store, secretKeys: keysInMemory('k1') }), {
    code: 'config_invalid',
    message: /lacks the key k2/,
  })
})
