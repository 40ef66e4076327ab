import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreError } from '../../src/store/port.ts'
import {
  assertFiresEachSecond,
  assertSane,
  DAY,
  HOUR,
  MINUTE,
  SECOND,
  START,
  startBusy,
  startServer,
  YEAR,
} from './clock-server.ts'
import { SCHEDULE_CALLER, SCHEDULE_JOB, putSchedule } from './occurrence-lines.ts'

test('a pause and a skip that ended in a rejected future continue when the clock is set back', async () => {
  const server = await startServer()
  const { clock, node, now, outcomes } = server
  const { schedules } = node.admin
  await putSchedule(node, { every: '1h' }, { missed: { kind: 'skip' } })
  const policies = { overlap: { kind: 'allow' }, missed: { kind: 'skip' } } as const
  await putSchedule(node, { every: '1s' }, { name: 'paused', ...policies })
  const until = START + 2 * DAY
  await schedules.pause(SCHEDULE_CALLER, SCHEDULE_JOB, 'paused', { until, reason: 'a fair' })
  const skipped = await schedules.skipNext(SCHEDULE_CALLER, SCHEDULE_JOB, 'rule')
  assert.equal(skipped, START + HOUR)
  clock.jumpWall(30 * DAY)
  await clock.advance(90 * SECOND)
  assert.equal((await schedules.find('default', SCHEDULE_JOB, 'paused')).pause, null)
  clock.jumpWall(-30 * DAY)
  await clock.advance(75 * SECOND)
  const from = now()
  assert.equal((await schedules.find('default', SCHEDULE_JOB, 'paused')).pause?.until, until)
  assert.equal((await schedules.find('default', SCHEDULE_JOB, 'rule')).skipNominalAt, skipped)
  clock.freeze(START + HOUR - from - 5 * SECOND)
  await clock.advance(10 * SECOND)
  assert.deepEqual(outcomes(from, now()), [{ nominal_at: skipped, outcome: 3 }])
  clock.freeze(until - now() - 5 * SECOND)
  await clock.advance(10 * SECOND)
  const fired = outcomes(until, now()).map(({ outcome }) => outcome)
  assert.ok(fired.length >= 4 && fired.every((outcome) => outcome === 0))
})

test('a pause that a user ended in a rejected future does not come back', async () => {
  const { clock, node } = await startServer()
  const { schedules } = node.admin
  await putSchedule(node, { every: '1s' }, { missed: { kind: 'skip' } })
  await schedules.pause(SCHEDULE_CALLER, SCHEDULE_JOB, 'rule', {
    until: START + 60 * DAY,
    reason: null,
  })
  clock.jumpWall(30 * DAY)
  await clock.advance(90 * SECOND)
  await schedules.resume(SCHEDULE_CALLER, SCHEDULE_JOB, 'rule')
  await clock.advance(5 * SECOND)
  clock.jumpWall(-30 * DAY)
  await clock.advance(75 * SECOND)
  assert.equal((await schedules.find('default', SCHEDULE_JOB, 'rule')).pause, null)
})

test('a node that stops before all schedules are rewound leaves that to the next start', async () => {
  const unavailable = async () => {
    throw new StoreError('unavailable', 'the connection is gone')
  }
  const first = await startBusy({
    breakStore: (store) => ({ ...store, rewindSchedules: unavailable }),
  })
  const { clock, engine, logLines } = first
  clock.jumpWall(-HOUR)
  await clock.advance(75 * SECOND)
  assert.ok(logLines.some((line) => line.includes('is accepted (-3600 s)')))
  await first.node.stop()
  const second = await startServer({ clock, engine })
  await clock.advance(75 * SECOND)
  await assertFiresEachSecond(second)
  await assertSane(second, first.key)
  await second.node.stop()
  // Stored only once all is done: the next start has nothing to hold.
  const third = await startServer({ clock, engine })
  assert.equal((await third.node.ready()).clock?.held, false)
})

test('a token survives a jump forward, and one that expired stays expired after a jump back', async () => {
  const { clock, node } = await startServer()
  const expiresAt = clock.now() + HOUR
  const { token } = await node.admin.tokens.create(SCHEDULE_CALLER, {
    name: 't',
    role: 'viewer',
    expiresAt,
    everywhere: false,
  })
  clock.jumpWall(YEAR)
  await clock.advance(30 * SECOND)
  assert.ok(await node.authenticator.identify(token))
  clock.jumpWall(-YEAR)
  clock.freeze(2 * HOUR)
  await clock.advance(5 * SECOND)
  assert.equal(await node.authenticator.identify(token), null)
  clock.jumpWall(-90 * MINUTE)
  await clock.advance(30 * SECOND)
  assert.equal(await node.authenticator.identify(token), null)
  await clock.advance(2 * MINUTE)
  assert.ok(clock.now() < expiresAt, 'the clock is accepted')
  assert.equal(await node.authenticator.identify(token), null)
  const [shown] = await node.admin.tokens.list('default', false)
  assert.equal(shown?.revoked_at, null, 'it was not revoked')
})

test('a token that was not used while expired is not revived by a jump back', async () => {
  const { clock, node } = await startServer()
  const given = { name: 't', role: 'viewer', everywhere: false } as const
  const { token } = await node.admin.tokens.create(SCHEDULE_CALLER, {
    ...given,
    expiresAt: clock.now() + HOUR,
  })
  clock.freeze(2 * HOUR)
  await clock.advance(2 * MINUTE)
  clock.jumpWall(-90 * MINUTE)
  await clock.advance(75 * SECOND)
  assert.equal(await node.authenticator.identify(token), null)
})

test('a token created by a clock ten years ahead lives as long as intended', async () => {
  const { clock, node } = await startServer()
  clock.jumpWall(10 * YEAR)
  await clock.advance(75 * SECOND)
  const given = { name: 't', role: 'viewer', everywhere: false } as const
  const { token } = await node.admin.tokens.create(SCHEDULE_CALLER, {
    ...given,
    expiresAt: clock.now() + HOUR,
  })
  clock.jumpWall(-10 * YEAR)
  await clock.advance(75 * SECOND)
  assert.ok(await node.authenticator.identify(token))
  clock.freeze(HOUR)
  await clock.advance(5 * SECOND)
  assert.equal(await node.authenticator.identify(token), null)
})

test('a clock that is never steady from the start holds schedules for a minute and no longer', async () => {
  const first = await startBusy()
  const { clock, engine } = first
  await first.node.stop()
  clock.jumpWall(-HOUR)
  const server = await startServer({ clock, engine })
  const { logLines, node, count } = server
  for (let i = 0; i < 5; i += 1) {
    clock.jumpWall(i % 2 === 0 ? -DAY : DAY)
    await clock.advance(20 * SECOND)
  }
  assert.equal((await node.ready()).clock?.held, false)
  assert.equal(logLines.filter((line) => line.includes('keeps jumping and is ignored')).length, 1)
  const before = count('occurrence') ?? 0
  clock.jumpWall(DAY)
  await clock.advance(20 * SECOND)
  assert.ok((count('occurrence') ?? 0) >= before + 15)
  await clock.advance(60 * SECOND)
  await assertFiresEachSecond(server)
  await assertSane(server, first.key)
})

test('a start with the clock 23 hours ahead deletes no key and no run, and a token survives it', async () => {
  const first = await startBusy()
  const { clock, engine } = first
  const expiresAt = clock.now() + 2 * HOUR
  const given = { name: 't', role: 'viewer', expiresAt, everywhere: false } as const
  const { token } = await first.node.admin.tokens.create(SCHEDULE_CALLER, given)
  engine.raw.exec(`UPDATE run SET status = 4, finished_at = ${clock.now() - 89.5 * DAY}`)
  const [runs, keys] = [first.count('run') as number, first.count('dedupe')]
  await first.node.stop()
  clock.jumpWall(23 * HOUR)
  const server = await startServer({ clock, engine })
  await clock.advance(5 * 60 * SECOND)
  assert.ok((server.count('run') as number) >= runs)
  assert.equal(server.count('dedupe'), keys)
  clock.jumpWall(-23 * HOUR)
  await clock.advance(75 * SECOND)
  assert.ok(await server.node.authenticator.identify(token))
  await assertSane(server, first.key)
})
