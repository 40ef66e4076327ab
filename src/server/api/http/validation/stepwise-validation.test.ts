import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestApi, TEST_TOKEN } from '../../testing/fake-scheduler.ts'

/**
 * A clock that moves on by one slice whenever it is read: every part of long work is followed by a
 * pause.
 */
let now = 0
const api = createTestApi(undefined, {
  clock: { now: () => 0, mono: () => (now += 20), sleep: async () => {} },
})
after(() => api.close())

const submit = (runs: readonly object[]) =>
  api.inject({
    method: 'POST',
    url: '/v1/runs:batch',
    payload: { runs },
    headers: { authorization: `Bearer ${TEST_TOKEN}` },
  })

test('an error in a run of a large batch is reported with the index of the run', async () => {
  const runs = Array.from({ length: 1_000 }, () => ({ job: 'a' }))
  const wrong = (index: number, run: object) => runs.with(index, run as { job: string })
  for (const [index, run, detail] of [
    [0, { job: 'a', priority: 99 }, 'runs.0.priority must be a whole number, -10 to 10'],
    [777, { job: 'a', priority: 99 }, 'runs.777.priority must be a whole number, -10 to 10'],
    [999, { job: 'a', jbo: 1 }, 'runs.999.jbo is not a field here; did you mean runs.999.job?'],
    [999, 5, 'runs.999 must be an object'],
  ] as const) {
    const reply = await submit(wrong(index, run as object))
    assert.equal(reply.statusCode, 422)
    assert.equal(reply.json<{ detail: string }>().detail, detail)
  }
})

test('a batch with too many runs is refused for their number', async () => {
  const reply = await submit(Array.from({ length: 10_001 }, () => ({ job: 'a' })))
  assert.equal(reply.json<{ detail: string }>().detail, 'runs must be a list of 1 to 10000')
})

test('a large batch is validated and read with pauses', async () => {
  let turns = 0
  let isOver = false
  const others = (async () => {
    for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  })()
  const reply = await submit(Array.from({ length: 2_000 }, () => ({ job: 'a' })))
  isOver = true
  await others
  assert.equal(reply.statusCode, 200)
  // Ten parts of 200 runs are validated and 2,000 runs read, each one slice by this clock.
  assert.ok(turns > 1_000, `others had ${turns} turns`)
})
