import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Submission } from '../../src/core/wire/protocol.ts'
import { postgresUrl } from '../support/servers.ts'
import { type FairShareReport, queueUp, sampleFairShare, startsUntil } from './fair-share.ts'
import { openSchedulerAccess } from './http-scheduler.ts'
import { startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker } from './manual-worker.ts'

const QUEUED = 200_000
/** A round trip takes a while; `npm run chaos -- fair-share` has the full load here too. */
const QUEUED_ON_POSTGRES = 20_000
const SAMPLES = 200

function assertFair({ violations, samples, maxStarts }: FairShareReport) {
  assert.deepEqual(violations, [])
  assert.equal(samples, SAMPLES)
  assert.ok(maxStarts <= 2)
}

test(`with ${QUEUED} runs queued by one project, another's single run is the next to start`, async () => {
  const { node } = await startInMemory()
  const reach = { clientFor: node.clientFor, why: node.admin.runs.why }
  assertFair(await sampleFairShare(reach, { queued: QUEUED, samples: SAMPLES }))
})

test(`with ${QUEUED_ON_POSTGRES} on PostgreSQL too`, async (t) => {
  const reach = await openSchedulerAccess(await postgresUrl())
  t.after(reach.close)
  assertFair(await sampleFairShare(reach, { queued: QUEUED_ON_POSTGRES, samples: SAMPLES }))
})

test('a second job of the same project does not wait for the backlog of the first', async () => {
  const world = await startInMemory()
  await queueUp(world.node, 'default', QUEUED, ['etl'])
  const client = world.node.clientFor('default')
  const worker = await registerManualWorker(client, { jobs: ['etl', 'lone'], slots: 1 })
  for (let sample = 0; sample < SAMPLES / 10; sample += 1) {
    const [submitted] = await client.submit([{ job: 'lone' }])
    assert.ok((await startsUntil(worker, submitted?.id ?? '', 5)) <= 2)
  }
})

test('a worker with many slots gives another project its half, not one slot', async () => {
  const world = await startInMemory()
  await queueUp(world.node, 'busy', QUEUED, ['etl'])
  const worker = await registerManualWorker(world.node.clientFor('busy'), {
    jobs: ['etl', 'lone'],
    projects: ['busy', 'quiet'],
    slots: 20,
  })
  const lone: Submission[] = Array.from({ length: 30 }, () => ({ job: 'lone' }))
  await world.node.clientFor('quiet').submit(lone)
  const runs = await worker.take(20)
  assert.equal(runs.filter(({ project }) => project === 'quiet').length, 10)
})
