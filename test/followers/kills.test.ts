import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WirePage } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { type KillableServer, startKillableServer } from '../support/killable-server.ts'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

const ROUNDS = 3
const RUNS = 8

async function runsOf({ call }: KillableServer, job: string): Promise<readonly WireRun[]> {
  const page = await call<WirePage<WireRun>>('GET', `/v1/runs?job=${job}&limit=500`)
  return page.data
}

test('servers killed while runs end: each success has exactly one follower run', async (t) => {
  const home = openHome(t)
  let server = await startKillableServer(home)
  await server.call('PUT', '/v1/jobs/source', { run: 'true' })
  // In a paused queue, so that the created runs can be counted.
  await server.call('PATCH', '/v1/queues/rest', { paused: true })
  const triggers = [{ after: 'source', input: '${{ after.run }}' }]
  await server.call('PUT', '/v1/jobs/follower', { run: 'true', queue: 'rest', triggers })
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let nth = 0; nth < RUNS; nth += 1) await server.call('POST', '/v1/runs', { job: 'source' })
    const before = round * RUNS
    // The kill happens while some runs have ended and others have not.
    await waitFor(async () => (await runsOf(server, 'follower')).length > before + round, {
      what: 'the first runs of this round to be followed',
    })
    await server.kill()
    server = await startKillableServer(home)
  }
  const all = ROUNDS * RUNS
  const followers = await waitFor(
    async () => {
      const runs = await runsOf(server, 'source')
      const isOver = runs.length === all && runs.every(({ state }) => state === 'succeeded')
      const made = await runsOf(server, 'follower')
      return isOver && made.length >= all ? made : undefined
    },
    { what: 'everything to end and to be followed', deadlineMs: 120_000 },
  )
  const sources = (await runsOf(server, 'source')).map(({ id }) => id)
  assert.deepEqual(followers.map(({ input }) => String(input)).toSorted(), sources.toSorted())
})
