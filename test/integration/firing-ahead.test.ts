import assert from 'node:assert/strict'
import { ROOT } from '../../src/server/identity/caller.ts'
import { compatPrincipalOf } from '../../src/server/identity/principal.ts'
import { test } from 'node:test'
import { publicId } from '../../src/core/ids.ts'
import type { ScheduleInput } from '../../src/server/admin/schedule-input.ts'
import type { FireBatch, Store } from '../../src/store/port.ts'
import type { VirtualClock } from '../support/virtual-clock.ts'
import { type InMemoryScheduler, startInMemory } from './scheduler-in-memory.ts'
import { type ManualWorker, registerManualWorker, succeeded } from './manual-worker.ts'

const BY = { project: 'default', actor: null, request: null, address: null }
const JOB = 'tidy'
const MINUTE = 60_000
const START = Date.UTC(2026, 0, 1)

interface Asked {
  readonly askedAt: number
  readonly aheadTo: number | null
}

/** Records the requests, and takes as long for each firing as a slow store. */
function slow(asked: Asked[], eachMs: number) {
  return (store: Store, clock: VirtualClock): Store => ({
    ...store,
    async fire(batch: FireBatch) {
      const { aheadTo, commands } = batch
      asked.push({ askedAt: clock.now(), aheadTo })
      await clock.sleep(commands.length * eachMs)
      return store.fire(batch)
    },
  })
}

function put({ node }: InMemoryScheduler, name: string, input: Partial<ScheduleInput> = {}) {
  return node.admin.schedules.put(BY, JOB, name, { rule: { every: '1m' }, ...input })
}

function firstRun({ engine }: InMemoryScheduler): string {
  const id = engine.raw.prepare<[], number>('SELECT min(id) FROM run').pluck().get()
  return publicId('run', id as number)
}

/** A worker that is silent for long is declared dead, so it connects shortly before it is needed. */
async function workerAt(
  { node, clock }: InMemoryScheduler,
  ms: number,
  slots = 10,
): Promise<ManualWorker> {
  await clock.advance(ms - (clock.now() - START))
  return registerManualWorker(node.clientFor('default'), { jobs: [JOB], slots })
}

/** Asks for work, and records when it came and for which due time. */
async function waitForWork(
  { clock }: InMemoryScheduler,
  worker: ManualWorker,
  message: Parameters<ManualWorker['exchange']>[0] = {},
) {
  const { runs } = await worker.exchange({ waitMs: 30_000, ...message })
  return { at: clock.now() - START, runs }
}

/** The store's clock has whole milliseconds, so a node's clock may differ by less than one. */
function assertAt(at: number, expected: number) {
  assert.ok(at >= expected && at <= expected + 1, `${at}`)
}

test('a run is durable before its due time and reaches its worker at that time', async () => {
  const world = await startInMemory()
  const { node, clock, engine } = world
  await put(world, 'rule')
  const count = engine.raw.prepare<[], number>('SELECT count(*) FROM run').pluck()
  const worker = await workerAt(world, MINUTE - 200)
  const work = waitForWork(world, worker)
  await clock.advance(100)
  assert.equal(count.get(), 0)
  await clock.advance(95)
  assert.equal(count.get(), 1)
  const why = await node.admin.runs.why('default', firstRun(world))
  assert.match(why.sentence, /not due yet: it starts in/)
  await clock.advance(10)
  const { at, runs } = await work
  assertAt(at, MINUTE)
  assert.deepEqual([runs.length, (runs[0]?.dueAt ?? 0) - START], [1, MINUTE])
})

test('the store gets due runs early enough that they are ready at their time', async () => {
  const asked: Asked[] = []
  const world = await startInMemory({ wrap: slow(asked, 3) })
  const { clock } = world
  for (let i = 0; i < 100; i += 1) await put(world, `r${i}`, { rule: { every: '10s' } })
  for (let round = 1; round <= 5; round += 1) {
    const worker = await workerAt(world, round * 10_000 - 1_500, 200)
    asked.length = 0
    const work = waitForWork(world, worker)
    await clock.advance(2_000)
    const { at, runs: first } = await work
    let runs = first
    if (round === 5) {
      assertAt(at, round * 10_000)
      assert.equal(runs.length, 100)
      assert.ok(asked.every(({ askedAt, aheadTo }) => askedAt < (aheadTo ?? 0)))
    }
    // With an unknown latency the store is asked too late: runs after the first answer are taken too.
    while (runs.length > 0) ({ runs } = await worker.exchange({ done: runs.map(succeeded) }))
  }
})

test('a change of a schedule whose time has fired is answered after that time', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  const { schedules, jobs } = node.admin
  await jobs.put(BY, JOB, {}, null)
  for (const name of ['pause', 'skip', 'delete', 'edit', 'job']) await put(world, name)
  const worker = await workerAt(world, MINUTE - 500)
  const work = waitForWork(world, worker)
  await clock.advance(480)
  const answered = new Map<string, number>()
  const note = (name: string, change: Promise<unknown>) =>
    change.then(() => answered.set(name, clock.now() - START))
  const changes = Promise.all([
    note('pause', schedules.pause(BY, JOB, 'pause', { until: null, reason: null })),
    note('skip', schedules.skipNext(BY, JOB, 'skip')),
    note('delete', schedules.remove(BY, JOB, 'delete')),
    note('edit', put(world, 'edit', { rule: { every: '2m' } })),
    note('job', jobs.pause(BY, JOB, null)),
  ])
  await clock.advance(19)
  assert.deepEqual([...answered], [])
  await clock.advance(5)
  await changes
  assert.equal((await work).runs.length, 5)
  for (const at of answered.values()) assertAt(at, MINUTE)
  const calm = schedules.resume(BY, JOB, 'pause')
  await clock.advance(0)
  await calm
})

for (const how of ['pauses', 'deletes', 'edits'] as const) {
  test(`a caller that ${how} a schedule with jitter whose time has fired is answered when that time has come`, async () => {
    const world = await startInMemory()
    const { node, clock } = world
    const { schedules } = node.admin
    const at = new Date(START + MINUTE).toISOString()
    const { schedule } = await put(world, 'late', { rule: { at, jitter: '30s' } })
    const fireAt = (schedule.next.checkAt as number) - START
    assert.ok(fireAt > MINUTE + 1_000, `${fireAt}`)
    const work = waitForWork(world, await workerAt(world, fireAt - 500))
    await clock.advance(480)
    const change = {
      pauses: () => schedules.pause(BY, JOB, 'late', { until: null, reason: null }),
      deletes: () => schedules.remove(BY, JOB, 'late'),
      edits: () => put(world, 'late', { rule: { every: '1m' } }),
    }[how]
    const answered = change().then(() => clock.now() - START)
    await clock.advance(100)
    assertAt(await answered, fireAt)
    assert.equal((await work).runs.length, 1)
  })
}

test('a run that is cancelled before its due time does not start', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  await put(world, 'a')
  await put(world, 'b')
  const worker = await workerAt(world, MINUTE - 500)
  const work = waitForWork(world, worker)
  await clock.advance(480)
  const run = firstRun(world)
  const cancelled = node.clientFor('default').cancel(run)
  await clock.advance(40)
  const { runs } = await work
  assert.equal(runs.length, 1)
  assert.notEqual(runs[0]?.run, run)
  await cancelled
  assert.equal((await node.admin.runs.find('default', run)).state, 'cancelled')
})

for (const how of ['leaves', 'registers again'] as const) {
  test(`a worker that ${how} before the time: the run waits for it, uncounted`, async () => {
    const world = await startInMemory()
    const { node, clock } = world
    const client = node.clientFor('default')
    await put(world, 'rule')
    const worker = await workerAt(world, MINUTE - 500)
    const work = waitForWork(world, worker)
    await clock.advance(480)
    if (how === 'leaves') await client.leave({ id: worker.session }, 1)
    const { session } = worker
    const again = { jobs: [JOB], session, registration: 2 }
    const next = await registerManualWorker(client, how === 'leaves' ? { jobs: [JOB] } : again)
    const later = waitForWork(world, next)
    await clock.advance(19)
    assert.deepEqual((await work).runs, [])
    await clock.advance(500)
    const { at, runs } = await later
    assert.ok(at >= MINUTE && at < MINUTE + 100, `${at}`)
    assert.deepEqual(
      runs.map(({ attempt }) => attempt),
      [1],
    )
  })
}

test('a node that stops before the time gives back the assignments it has not sent', async () => {
  const world = await startInMemory()
  const { node, clock, engine } = world
  await put(world, 'rule')
  const worker = await workerAt(world, MINUTE - 500)
  void waitForWork(world, worker).catch(() => {})
  await clock.advance(480)
  const stopped = node.stop()
  await clock.advance(0)
  await stopped
  const row = engine.raw.prepare('SELECT status, timer_at - due_at AS off, attempt FROM run').get()
  assert.deepEqual(row, { status: 2, off: 0, attempt: 1 })
})

test('a compat worker that asks another node before the time does not get the run there', async () => {
  const first = await startInMemory()
  const second = await startInMemory({ beside: first })
  const { clock } = first
  await first.node.admin.jobs.put(BY, JOB, { run: 'true', queue: 'plain' }, null)
  await put(first, 'rule')
  await clock.advance(MINUTE - 500)
  const origin = { project: 'default', principal: compatPrincipalOf(ROOT) }
  const worker = { id: 'w', origin, isEverywhere: false }
  // This node has the schedule.
  const here = second.node.compat.sessions
  void here.take(await here.register(worker), 5_000, origin).catch(() => {})
  await clock.advance(480)
  assert.ok(firstRun(first))
  const there = first.node.compat.sessions
  const session = await there.heartbeat(worker)
  assert.equal([...session.leases].length, 0)
  const work = there
    .take(session, 5_000, origin)
    .then((lease) => ({ lease, at: clock.now() - START }))
  await clock.advance(1_500)
  const { lease, at } = await work
  assert.ok(at >= MINUTE, `${at}`)
  assert.equal(lease?.attempt, 1)
})

test('a job that is changed shortly before a due time runs with the change', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  await node.admin.jobs.put(BY, JOB, { timeout: '1m' }, null)
  await put(world, 'rule')
  const worker = await workerAt(world, MINUTE - 1_500)
  const work = waitForWork(world, worker)
  await clock.advance(100)
  await node.admin.jobs.put(BY, JOB, { timeout: '2m' }, null)
  await clock.advance(1_500)
  const { at, runs } = await work
  assertAt(at, MINUTE)
  assert.deepEqual(
    runs.map(({ timeoutMs }) => timeoutMs),
    [2 * MINUTE],
  )
})

test('a node that was suspended over the due time records when the run really started', async () => {
  const world = await startInMemory()
  const { node, clock } = world
  await put(world, 'rule')
  const worker = await workerAt(world, MINUTE - 500)
  const work = waitForWork(world, worker)
  await clock.advance(480)
  const run = firstRun(world)
  clock.freeze(5_000)
  await clock.advance(100)
  const { runs } = await work
  assert.deepEqual(
    runs.map(({ run: id, attempt }) => [id, attempt]),
    [[run, 1]],
  )
  const { startedAt } = await node.admin.runs.find('default', run)
  assert.ok((startedAt ?? 0) - START >= MINUTE + 4_900, `${startedAt}`)
})
