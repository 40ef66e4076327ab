import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Submission } from '../../src/core/protocol.ts'
import { type InMemory, startInMemory } from './scheduler-in-memory.ts'
import { type HandWorker, registerByHand, succeeded } from './worker-by-hand.ts'

const QUEUED = 200_000
const BATCH = 10_000
const SAMPLES = 200

async function queueUp({ node }: InMemory, project: string, jobs: readonly string[]) {
  const client = node.clientFor(project)
  for (let queued = 0; queued < QUEUED; queued += BATCH) {
    const job = (index: number) => jobs[index % jobs.length] as string
    await client.submit(Array.from({ length: BATCH }, (_, index) => ({ job: job(index) })))
  }
}

/** Starts of runs, in order, until the wanted one: each frees the slot of the one before. */
async function startsUntil(worker: HandWorker, wanted: string, most: number): Promise<number> {
  for (let starts = 1; starts <= most; starts += 1) {
    const { runs } = await worker.exchange({ free: 1, waitMs: 1_000 })
    const [run] = runs
    assert.ok(run, 'a slot is free, and nothing was given')
    await worker.report([succeeded(run)], 0)
    if (run.run === wanted) return starts
  }
  return Number.POSITIVE_INFINITY
}

test(`with ${QUEUED} runs queued by one project, another's single run is the next to start`, async () => {
  const world = await startInMemory()
  await queueUp(world, 'busy', ['etl', 'report', 'mail'])
  const worker = await registerByHand(world.node.clientFor('busy'), {
    ...{ jobs: ['etl', 'report', 'mail', 'lone'], projects: ['busy', 'quiet'], slots: 1 },
  })
  const quiet = world.node.clientFor('quiet')
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    // Whoever was served just now waits for one of the others; who was away does not.
    const wasAway = sample % 2 === 0
    if (wasAway) await startsUntil(worker, 'nobody', 2)
    const [submitted] = await quiet.submit([{ job: 'lone' }])
    const starts = await startsUntil(worker, submitted?.id ?? '', 5)
    assert.ok(starts <= (wasAway ? 1 : 2), `sample ${sample} started as number ${starts}`)
  }
})

test('a second job of the same project does not wait for the backlog of the first', async () => {
  const world = await startInMemory()
  await queueUp(world, 'default', ['etl'])
  const client = world.node.clientFor('default')
  const worker = await registerByHand(client, { jobs: ['etl', 'lone'], slots: 1 })
  for (let sample = 0; sample < SAMPLES / 10; sample += 1) {
    const [submitted] = await client.submit([{ job: 'lone' }])
    assert.ok((await startsUntil(worker, submitted?.id ?? '', 5)) <= 2)
  }
})

test('a worker with many slots gives another project its half, not one slot', async () => {
  const world = await startInMemory()
  await queueUp(world, 'busy', ['etl'])
  const worker = await registerByHand(world.node.clientFor('busy'), {
    ...{ jobs: ['etl', 'lone'], projects: ['busy', 'quiet'], slots: 20 },
  })
  const lone: Submission[] = Array.from({ length: 30 }, () => ({ job: 'lone' }))
  await world.node.clientFor('quiet').submit(lone)
  const runs = await worker.take(20)
  assert.equal(runs.filter(({ project }) => project === 'quiet').length, 10)
})
