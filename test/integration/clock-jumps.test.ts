import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import { idAtMs, msOfId, parsePublicId, publicId } from '../../src/core/ids.ts'
import { createApi } from '../../src/server/api/create-api.ts'
import { createFakeTerminal } from '../cli/fake-terminal.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'
import {
  assertFiresEachSecond,
  assertSane,
  DAY,
  HOUR,
  MINUTE,
  SECOND,
  type Server,
  START,
  startBusy,
  startServer,
  YEAR,
} from './clock-server.ts'
import { SCHEDULE_JOB } from './occurrence-lines.ts'

test('ten years forward for 8 s and back: nothing fires meanwhile, and schedules then fire each second again at once', async () => {
  const server = await startBusy()
  const { clock, count, logLines } = server
  clock.jumpWall(10 * YEAR)
  await clock.advance(8 * SECOND)
  const held = await server.node.ready()
  assert.equal(held.ok, true)
  assert.equal(held.clock?.held, true)
  const why = await server.node.admin.scheduleReading.why('default', SCHEDULE_JOB, 'rule')
  assert.equal(why.code, 'clock_held')
  clock.jumpWall(-10 * YEAR)
  await clock.advance(5 * SECOND)
  await assertFiresEachSecond(server)
  await assertSane(server, server.key)
  assert.equal(count('void_occurrence'), 0)
  assert.equal(logLines.filter((line) => line.includes('jumped forward')).length, 1)
  assert.equal(logLines.filter((line) => line.includes('back where it was expected')).length, 1)
  assert.equal((await server.node.ready()).clock, undefined)
})

test('an hour forward for two minutes and back: no firing for a minute, not for an hour', async () => {
  const server = await startBusy()
  const { clock, count } = server
  clock.jumpWall(HOUR)
  await clock.advance(75 * SECOND)
  await assertFiresEachSecond(server)
  await assertSane(server, server.key)
  await clock.advance(MINUTE)
  clock.jumpWall(-HOUR)
  await clock.advance(75 * SECOND)
  await assertFiresEachSecond(server, 20 * SECOND)
  assert.ok((count('void_occurrence') ?? 0) >= 60, 'what fired in the rejected hour is void')
  assert.ok(server.logLines.some((line) => line.includes('(-3600 s)') && line.includes('are void')))
  const voided = 'SELECT id FROM void_occurrence WHERE outcome = 0 LIMIT 1'
  const runId = server.engine.raw.prepare<[], number>(voided).pluck().get() as number
  const why = await server.node.admin.runs.why('default', publicId('run', runId))
  assert.match(JSON.stringify(why), /that time is void and fires again/)
  await assertSane(server, server.key)
})

test('times that fired on a clock that was ahead fire again when they really come, once each', async () => {
  const server = await startBusy()
  const { clock, count } = server
  clock.jumpWall(3 * MINUTE)
  await clock.advance(90 * SECOND)
  clock.jumpWall(-3 * MINUTE)
  await clock.advance(75 * SECOND)
  assert.ok((count('void_occurrence') ?? 0) >= 20)
  await assertFiresEachSecond(server, 4 * MINUTE)
})

test('80 s at 400 days ahead: retention deletes nothing, neither then nor after the clock is back', async () => {
  const server = await startBusy()
  const { clock, count, engine } = server
  const [runs, keys] = [count('run') as number, count('dedupe')]
  engine.raw.exec(`UPDATE run SET status = 4, finished_at = ${clock.now()}`)
  clock.jumpWall(400 * DAY)
  await clock.advance(80 * SECOND)
  assert.ok((count('run') as number) >= runs, 'no run is deleted')
  assert.equal(count('dedupe'), keys)
  clock.jumpWall(-400 * DAY)
  await clock.advance(5 * MINUTE)
  assert.ok((count('run') as number) >= runs)
  await assertFiresEachSecond(server)
  await assertSane(server, server.key)
  assert.equal((await server.node.ready()).clock?.deletion_held, true)
})

test('a clock that is correctly 400 days later lets retention continue, after 24 hours', async () => {
  const server = await startServer()
  const { clock, count, engine, submit } = server
  await submit()
  engine.raw.exec(`UPDATE run SET status = 4, finished_at = ${clock.now()}`)
  clock.jumpWall(400 * DAY)
  await clock.advance(2 * MINUTE)
  clock.freeze(23 * HOUR)
  await clock.advance(2 * MINUTE)
  assert.equal(count('run'), 1)
  clock.freeze(HOUR)
  await clock.advance(2 * MINUTE)
  assert.equal(count('run'), 0)
})

test('an hour back: no firing for a minute; records of the hour are void and its times fire again', async () => {
  const server = await startBusy()
  const { clock } = server
  await clock.advance(2 * MINUTE)
  clock.jumpWall(-HOUR)
  await clock.advance(75 * SECOND)
  await assertFiresEachSecond(server)
  await assertSane(server, server.key)
})

test('a jump back by less than the interval of storing the trusted time is detected by a start within its hold', async () => {
  const first = await startBusy()
  const { clock, engine } = first
  // No run has an id of the last minutes, and the trusted time was stored before them.
  engine.raw.exec(`DELETE FROM run WHERE id > ${parsePublicId('run', first.key.id)}`)
  engine.raw.exec(`UPDATE node SET id_mark = 0`)
  const seen = `SELECT value FROM meta WHERE key = 'clock_seen_at'`
  const before = engine.raw.prepare<[], number>(seen).pluck().get() as number
  clock.jumpWall(-20 * SECOND)
  await clock.advance(10 * SECOND)
  const noted = engine.raw.prepare<[], number>(seen).pluck().get() as number
  assert.ok(noted - before >= 30 * SECOND)
})

test('a suspend is recognised and accepted at once; the missed policy applies', async () => {
  let asleepMs = 0
  const clock = createVirtualClock(START)
  const server = await startBusy({ clock, boot: () => clock.mono() + asleepMs })
  asleepMs += 2 * HOUR
  clock.jumpWall(2 * HOUR)
  await clock.advance(5 * SECOND)
  assert.equal((await server.node.ready()).clock, undefined)
  assert.ok(server.logLines.some((line) => line.includes('suspended for 7200 s')))
  await assertFiresEachSecond(server)
  await assertSane(server, server.key)
})

test('a start with a clock behind the newest time in the store is held, then accepted', async () => {
  const first = await startBusy()
  const { clock, engine } = first
  await clock.advance(2 * MINUTE)
  await first.node.stop()
  clock.jumpWall(-HOUR)
  const server = await startServer({ clock, engine })
  await clock.advance(30 * SECOND)
  assert.equal((await server.node.ready()).clock?.held, true)
  await clock.advance(45 * SECOND)
  await assertFiresEachSecond(server)
  await assertSane(server, first.key)
  await server.node.stop()
  // The next start has nothing to hold: the accepted clock is stored.
  const third = await startServer({ clock, engine })
  assert.equal((await third.node.ready()).clock?.held, false)
})

test('a server that was off for a month fires after the hold; after a restart deletion still waits', async () => {
  const first = await startBusy()
  const { clock, engine } = first
  await first.node.stop()
  clock.jumpWall(30 * DAY)
  const server = await startServer({ clock, engine })
  await clock.advance(75 * SECOND)
  await assertFiresEachSecond(server)
  assert.equal((await server.node.ready()).clock?.deletion_held, true)
  await server.node.stop()
  // The suspicion survives a restart.
  const third = await startServer({ clock, engine })
  const { clock: notice } = await third.node.ready()
  assert.deepEqual([notice?.held, notice?.deletion_held], [false, true])
})

test('an id mark corrupted by an earlier version is repaired, and no id is given twice', async () => {
  const first = await startBusy()
  const { clock, engine } = first
  const poisoned = idAtMs(START + 10 * YEAR) + 5
  engine.raw.exec(`UPDATE run SET id = ${poisoned} WHERE id = (SELECT max(id) FROM run)`)
  const future = START + 10 * YEAR
  engine.raw.exec(
    `UPDATE schedule SET last_nominal_at = ${future}, next_nominal_at = ${future + 1_000}, look_at = ${future + 1_000}`,
  )
  await first.node.stop()
  engine.raw.exec(`DELETE FROM meta WHERE key LIKE 'clock_%'`)
  const server = await startServer({ clock, engine })
  await clock.advance(75 * SECOND)
  await assertFiresEachSecond(server)
  const id = parsePublicId('run', await server.submit()) as number
  assert.ok(Math.abs(msOfId(id) - clock.now()) <= MINUTE)
  const slots = engine.raw
    .prepare<[], number>('SELECT slot FROM node WHERE alive = 1')
    .pluck()
    .all()
  assert.deepEqual(slots, [1], 'the slot with the ids of the future is left alone')
})

for (const [what, byMs] of [
  ['ahead', HOUR],
  ['behind', -HOUR],
] as const) {
  test(`fail-over to a database whose clock is an hour ${what}: no firing for a minute, and nothing is lost`, async () => {
    let storeAheadMs = 0
    const server = await startBusy({ storeAheadMs: () => storeAheadMs })
    const { clock, count } = server
    const [runs, keys] = [count('run') as number, count('dedupe')]
    storeAheadMs = byMs
    await clock.advance(30 * SECOND)
    assert.equal((await server.node.ready()).clock?.held, true)
    await clock.advance(45 * SECOND)
    await assertFiresEachSecond(server)
    await assertSane(server, server.key)
    assert.ok((count('run') as number) > runs)
    assert.equal(count('dedupe'), keys)
    // The first database is back, with its old clock.
    storeAheadMs = 0
    await clock.advance(75 * SECOND)
    await assertFiresEachSecond(server)
    await assertSane(server, server.key)
  })
}

/** The same server over HTTP. */
async function serve(t: TestContext, { node, clock }: Server) {
  const api = createApi({
    clientFor: node.clientFor,
    workingFor: node.workingFor,
    admin: node.admin,
    compat: node.compat,
    metrics: node.metrics,
    identify: node.authenticator.identify,
    clock,
    health: { live: () => true, ready: node.ready },
    isOpen: true,
    allowHosts: [],
    connections: {},
  })
  t.after(() => api.close())
  const url = await api.listen({ host: '127.0.0.1', port: 0 })
  const doctor = async () => {
    const terminal = createFakeTerminal({ env: { PUNCTUAL_SERVER: url }, columns: 200 })
    const code = await runProgram(['doctor'], {
      terminal,
      version: '0',
      addServerCommands: () => {},
    })
    return { code, out: terminal.written.out }
  }
  const clockMetrics = async () => {
    const page = await (await fetch(`${url}/metrics`)).text()
    const lines = page.split('\n').filter((line) => line.startsWith('punctual_clock_'))
    return lines.map((line) => line.replace('punctual_clock_', '')).toSorted()
  }
  return { doctor, clockMetrics }
}

const noEvents = (changed: Record<string, number>) =>
  ['held', 'accepted', 'returned', 'ignored', 'suspended', 'proven']
    .map((event) => `events_total{event="${event}"} ${changed[event] ?? 0}`)
    .toSorted()

test('a hold appears in doctor and metrics while it lasts, and so does delayed deletion', async (t) => {
  const server = await startBusy()
  const { clock } = server
  const { doctor, clockMetrics } = await serve(t, server)
  assert.doesNotMatch((await doctor()).out, /wall clock/)
  const calm = ['deletion_held 0', 'held 0', 'off_seconds 0']
  assert.deepEqual(await clockMetrics(), [...calm, ...noEvents({})].toSorted())

  clock.jumpWall(HOUR)
  await clock.advance(10 * SECOND)
  const held = await doctor()
  assert.equal(held.code, 1)
  assert.match(
    held.out,
    /✖ the wall clock jumped forward by 3600 s: schedules and timers are held for another \d+ s at most\n +help: +Check the clock/,
  )
  const holding = ['deletion_held 1', 'held 1', 'off_seconds 3600']
  assert.deepEqual(await clockMetrics(), [...holding, ...noEvents({ held: 1 })].toSorted())

  await clock.advance(65 * SECOND)
  assert.match((await doctor()).out, /! nothing is deleted by age for another 24\.0 h of uptime/)
  const waiting = ['deletion_held 1', 'held 0', 'off_seconds 0']
  const events = noEvents({ held: 1, accepted: 1 })
  assert.deepEqual(await clockMetrics(), [...waiting, ...events].toSorted())
})

test('a server that was off for eight hours fires at once, and deletes nothing until the clock has agreed for as long', async () => {
  const first = await startBusy()
  const { clock, engine } = first
  await first.node.stop()
  clock.jumpWall(8 * HOUR)
  const server = await startServer({ clock, engine })
  await clock.advance(2 * SECOND)
  await assertFiresEachSecond(server)
  assert.deepEqual(
    [(await server.node.ready()).clock].map((notice) => [notice?.held, notice?.deletion_held]),
    [[false, true]],
  )
  await assertSane(server, first.key)
})
