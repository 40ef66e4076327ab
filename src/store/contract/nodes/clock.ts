import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMinter, idAtMs, IDS_PER_MS, msOfId } from '../../../core/ids.ts'
import { transitionFrom, UNPROCESSED_MS, withWorkflows } from '../workflows/workflow-fixture.ts'
import { DAY_MS, HOUR_MS, NODE_TTL_MS, only, originOf } from '../fixture.ts'
import {
  auditOf,
  commandFor,
  fireNext,
  load,
  MINUTE_MS,
  occurrencesOf,
  putNew,
} from '../schedules/schedule-fixture.ts'
import { adoptInto } from '../sessions/session-binding.ts'
import { claimDue, deliverTo, putTestWebhook as putWebhook } from '../webhooks/webhook-fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

/** The store uses the world's clock as long as that is near this time. */
function expect(world: StoreWorld, expected: () => number): () => void {
  const use = (now: () => number) => {
    expectedClocks.set(world, now)
    world.store.expectClock(now)
  }
  use(expected)
  return () => use(world.clock.now)
}

const expectedClocks = new WeakMap<StoreWorld, () => number>()
const nowOf = (world: StoreWorld) => (expectedClocks.get(world) ?? world.clock.now)()

async function rewound(world: StoreWorld, id: number, nextAt: number, now = nowOf(world)) {
  const { version, next, lastNominalAt } = await load(world, id)
  const command = {
    id,
    version,
    nominalAt: next.nominalAt,
    lastNominalAt,
    next: { nominalAt: nextAt, checkAt: nextAt },
  }
  return world.store.rewindSchedules([command], now)
}

export function clockContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'statements use the expected time when the clock has jumped, and heartbeats return the time of the clock',
    inWorld(async (world) => {
      const trusted = world.clock.now()
      const restore = expect(world, () => trusted)
      const later = world.newRun({ dueAt: trusted + HOUR_MS })
      await world.submit(later)
      world.clock.advance(3_000)
      const near = await world.start({ rank: -10 })
      assert.equal(near.startedAt, trusted + 3_000, 'a clock that is near is used')
      world.clock.advance(10 * 365 * DAY_MS)
      const { promoted } = await world.store.promote({ positions: [world.mint()] })
      assert.equal(promoted, 0, 'no timer is due')
      const far = await world.start({ rank: -10 })
      assert.equal(far.startedAt, trusted)
      const beat = await world.store.heartbeat({ node: world.node, ttlMs: NODE_TTL_MS, idMark: 0 })
      assert.deepEqual(beat, { alive: true, now: world.clock.now() })
      assert.deepEqual(await world.store.declareDeadNodes(), [], 'no other node seems dead')
      restore()
    }),
  )

  test(
    'facts about clocks are recorded, and ids of a clock that was wrong are ignored',
    inWorld(async (world) => {
      const { store, clock } = world
      await world.submit(world.newRun())
      const seenAt = clock.now()
      await store.recordClock({ seenAt, agreedMs: HOUR_MS })
      const wrong = world.newRun({ id: idAtMs(seenAt + 400 * DAY_MS) })
      await world.submit(wrong)
      const facts = await store.clockFacts()
      assert.deepEqual([facts.wall, facts.agreedMs], [seenAt, HOUR_MS])
      assert.ok(Math.abs((facts.newestAt ?? 0) - seenAt) < MINUTE_MS)
      assert.equal(facts.highestId, wrong.id)
      await store.recordClock({ seenAt: seenAt + 1, agreedMs: null })
      assert.equal((await store.clockFacts()).agreedMs, null)
    }),
  )

  test(
    'a node whose ids are ahead moves to another slot, and its old slot stays unused until that time',
    inWorld(async (world) => {
      const { store, clock } = world
      const joined = await world.join()
      const ahead = idAtMs(clock.now() + 400 * DAY_MS)
      const changed = await store.changeSlot({
        node: joined.node,
        ttlMs: NODE_TTL_MS,
        idMark: ahead,
      })
      assert.ok(changed && changed.slot !== joined.slot)
      assert.ok(changed.idFloor <= idAtMs(clock.now() + MINUTE_MS))
      const minter = createMinter({
        slot: changed.slot,
        floor: changed.idFloor,
        now: clock.now,
        random: () => 0,
      })
      assert.ok(Math.abs(msOfId(minter.mint()) - clock.now()) < MINUTE_MS)
      await store.leave({ node: joined.node, idMark: minter.mark })
      const next = await world.join()
      assert.notEqual(next.slot, joined.slot, 'no node mints where ids of the future are')
      clock.advance(400 * DAY_MS + HOUR_MS)
      const bound = idAtMs(clock.now())
      const late = await Promise.all(Array.from({ length: 4 }, () => world.join()))
      for (const { slot, idFloor } of late) {
        assert.ok(slot !== joined.slot || (idFloor >= ahead && idFloor <= bound + IDS_PER_MS))
      }
    }),
  )

  test(
    'times that fired because a clock was ahead are void when it is set back, and fire again',
    inWorld(async (world) => {
      const { store, clock } = world
      const schedule = await putNew(world)
      const { id } = schedule
      const first = schedule.next.nominalAt as number
      clock.advance(MINUTE_MS)
      await fireNext(world, id)
      clock.advance(MINUTE_MS)
      await fireNext(world, id)
      const early = only(
        (await occurrencesOf(world, id)).filter(({ nominalAt }) => nominalAt > first),
      )
      // The clock was a minute ahead: the last fired time has not come yet.
      const restore = expect(world, () => first + 1_000)
      const ahead = await store.schedulesAhead({ after: id - 1, limit: 1 })
      assert.deepEqual(
        ahead.map((one) => one.id),
        [id],
      )
      assert.equal(await rewound(world, id, first + MINUTE_MS), 1)
      const after = await load(world, id)
      assert.deepEqual(after.next, { nominalAt: first + MINUTE_MS, checkAt: first + MINUTE_MS })
      assert.equal(after.lastNominalAt, first)
      assert.equal((await occurrencesOf(world, id)).length, 1)
      const voided = await store.occurrenceOf({ runId: early.runId as number })
      assert.deepEqual([voided?.nominalAt, voided?.reason], [first + MINUTE_MS, 'clock_set_back'])
      const earlyId = early.runId as number
      assert.deepEqual(await store.originsOf({ runIds: [earlyId] }), [
        originOf(earlyId, { scheduleId: id }),
      ])
      restore()
      assert.equal((await fireNext(world, id)).kind, 'done')
      const story = (await occurrencesOf(world, id)).map(({ nominalAt }) => nominalAt)
      assert.deepEqual(story, [first, first + MINUTE_MS])
      assert.equal(
        await rewindStale(world, id),
        0,
        'a schedule that has changed since is left alone',
      )
    }),
  )

  test(
    'a range of times that reaches beyond a clock that was set back ends there',
    inWorld(async (world) => {
      const { clock } = world
      const { id, next } = await putNew(world)
      const first = next.nominalAt as number
      clock.advance(DAY_MS)
      const range = { nominalAt: first, untilAt: first + HOUR_MS, count: 61 }
      const missed = { kind: 'none', ...range, outcome: 'missed', reason: 'policy' } as const
      await fireNext(world, id, { settled: [missed] })
      const restore = expect(world, () => first + MINUTE_MS)
      assert.equal(await rewound(world, id, first + 2 * MINUTE_MS), 1)
      const { untilAt, count } = only(await occurrencesOf(world, id))
      assert.deepEqual([untilAt, count], [first + MINUTE_MS, null])
      assert.equal((await load(world, id)).lastNominalAt, first + MINUTE_MS)
      restore()
    }),
  )

  test(
    'nothing fires while the clock differs from the time the node expects, unless the node declares that the clock is off',
    inWorld(async (world) => {
      const { store, clock, node } = world
      const schedule = await putNew(world)
      const due = schedule.next.nominalAt as number
      clock.advance(due - clock.now())
      for (const offMs of [7_000, -7_000]) {
        const restore = expect(world, () => due - offMs)
        const valid = { validFrom: due - HOUR_MS, validUntil: due + HOUR_MS, aheadTo: null }
        const batch = { node, ...valid, commands: [commandFor(world, schedule)] }
        assert.equal(only((await store.fire(batch)).verdicts).kind, 'outdated')
        restore()
      }
      const near = expect(world, () => due - 3_000)
      assert.equal((await fireNext(world, schedule.id)).kind, 'done')
      near()
      const later = await load(world, schedule.id)
      const known = expect(world, () => later.next.nominalAt as number)
      const valid = { validFrom: 0, validUntil: due + HOUR_MS, aheadTo: null, isClockOff: true }
      const fired = await store.fire({ node, ...valid, commands: [commandFor(world, later)] })
      assert.equal(only(fired.verdicts).kind, 'done')
      known()
    }),
  )

  test(
    'a schedule is rewound to the time that its node read, which may differ from that of the store',
    inWorld(async (world) => {
      const { id, next } = await putNew(world)
      const first = next.nominalAt as number
      for (let minute = 0; minute < 2; minute += 1) {
        world.clock.advance(MINUTE_MS)
        await fireNext(world, id)
      }
      // The node computed the next time for the instant of the second firing; the store reads its clock earlier.
      const restore = expect(world, () => first + 1_000)
      const second = first + MINUTE_MS
      assert.equal(await rewound(world, id, second + MINUTE_MS, second), 1)
      restore()
      const kept = (await occurrencesOf(world, id)).map(({ nominalAt }) => nominalAt)
      assert.deepEqual(kept, [first, second])
    }),
  )

  test(
    'pauses and skips of times that are void continue, unless a user has changed the schedule since',
    inWorld(async (world) => {
      const { store, clock, project: projectId } = world
      const audit = auditOf(world, 'schedule.change')
      const now = clock.now()
      const until = now + DAY_MS
      const [begun, ahead, resumed] = [
        await putNew(world),
        await putNew(world),
        await putNew(world),
      ]
      for (const { id } of [begun, ahead, resumed]) {
        await store.pauseSchedule({ projectId, id, until, reason: 'a fair', audit })
      }
      const skipped = await putNew(world)
      const { id: skippedId } = skipped
      const skipAt = await store.skipNext({ projectId, id: skippedId, audit })
      clock.advance(2 * DAY_MS)
      await store.resumeSchedule({ projectId, id: resumed.id, audit })
      const first = now + MINUTE_MS
      const end = async (id: number, nominalAt: number) => {
        const range = { nominalAt, untilAt: until, count: null }
        const paused = { kind: 'none', ...range, outcome: 'skipped', reason: 'paused' } as const
        await fireNext(world, id, { settled: [paused] })
        assert.equal((await load(world, id)).pause, null)
      }
      await end(begun.id, first)
      await end(ahead.id, now + HOUR_MS)
      await end(resumed.id, first)
      const one = { nominalAt: first, untilAt: first, count: 1 }
      const asked = { kind: 'none', ...one, outcome: 'skipped', reason: 'asked' } as const
      await fireNext(world, skippedId, { settled: [asked] })
      assert.equal((await load(world, skippedId)).skipNominalAt, null)

      const isBack = now + 30_000
      const restore = expect(world, () => isBack)
      // Of the first schedule, the range has begun; the time of the skip has not come.
      const begunAt = first + MINUTE_MS
      for (const { id } of [ahead, resumed, skipped]) await rewound(world, id, first)
      restore()
      const later = expect(world, () => begunAt)
      await rewound(world, begun.id, begunAt + MINUTE_MS)
      for (const { id } of [begun, ahead]) {
        const { pause, next } = await load(world, id)
        assert.deepEqual([pause?.until, pause?.byJob, pause?.resumedAt], [until, false, null])
        assert.equal(next.checkAt, until)
        assert.ok((next.nominalAt ?? 0) < until)
      }
      const free = await load(world, resumed.id)
      assert.deepEqual([free.pause, free.next.checkAt], [null, first])
      assert.equal((await load(world, skippedId)).skipNominalAt, skipAt)
      later()
    }),
  )

  test(
    'a retry delay counted from a time that has not come is counted from now',
    inWorld(async (world) => {
      const { store, clock } = world
      const now = clock.now()
      clock.advance(400 * DAY_MS)
      const lease = await world.start()
      await world.end(lease, { to: 'retry', delayMs: 10_000 })
      const delayed = world.newRun({ dueAt: clock.now() + 20_000 })
      await world.submit(delayed)
      const restore = expect(world, () => now)
      await store.rewindTimers()
      const { nextDueAt } = await store.promote({ positions: [world.mint()], isClockOff: true })
      assert.equal(nextDueAt, now + 10_000)
      restore()
    }),
  )

  test(
    'checks of workflows and backfills, and ended steps, that wait for a time that has not come are due now',
    inWorld(async (world) => {
      const { store, clock } = world
      const now = clock.now()
      const workflows = await withWorkflows(world)
      clock.advance(400 * DAY_MS)
      const later = await workflows.begin()
      await workflows.advance(transitionFrom(later, { checkAt: clock.now() + HOUR_MS }))
      const { workflow: processed } = await workflows.beginWith(1)
      await world.end(only(await world.claim(1)))
      const backfill = await startBackfill(world)
      const ours = new Set([later.runId, processed.runId])
      const dirty = async () => (await workflows.dirty()).filter((id) => ours.has(id))
      const restore = expect(world, () => now)
      const openAt = (until: number) => store.openBackfills({ until, limit: 1_000 })
      const has = (found: readonly { id: number }[]) => found.some(({ id }) => id === backfill)
      assert.deepEqual(await dirty(), [])
      assert.ok(!has(await openAt(now)))
      await store.rewindTimers()
      assert.deepEqual(await dirty(), [later.runId], 'ended steps when they are old enough')
      assert.ok(has(await openAt(now)))
      restore()
      const unheard = expect(world, () => now + UNPROCESSED_MS)
      assert.deepEqual(new Set(await dirty()), ours)
      unheard()
    }),
  )

  test(
    'an expired token stays expired when the clock is set back, and may still be revoked',
    inWorld(async (world) => {
      const { store, clock } = world
      const now = clock.now()
      const make = async (hash: string, expiresAt: number | null) => {
        const audit = auditOf(world, 'token.create')
        const given = { projectId: world.project, name: hash, role: 'viewer', hash, ending: 'x' }
        const id = await store.createToken({ ...given, expiresAt, createdBy: null, audit })
        return { id, record: async () => (await store.findToken(hash))! }
      }
      const brief = await make('brief', now + HOUR_MS)
      const long = await make('long', now + DAY_MS)
      await store.expireTokens()
      assert.equal((await brief.record()).revokedAt, null)
      clock.advance(2 * HOUR_MS)
      await store.expireTokens()
      const since = await Promise.all(
        [brief, long].map(async (one) => (await one.record()).revokedAt),
      )
      assert.deepEqual(since, [now + HOUR_MS, null])

      clock.advance(DAY_MS)
      const ahead = await make('ahead', clock.now() + HOUR_MS)
      const forGood = await make('for-good', null)
      const restore = expect(world, () => now + 3 * HOUR_MS)
      for (let i = 0; i < 2; i += 1) await store.rewindTimers()
      const { createdAt, expiresAt } = await ahead.record()
      assert.deepEqual([createdAt, expiresAt], [now + 3 * HOUR_MS, now + 4 * HOUR_MS])
      assert.equal((await forGood.record()).expiresAt, null)
      assert.equal((await long.record()).expiresAt, now + DAY_MS, 'created before, and unchanged')
      const audit = auditOf(world, 'token.revoke')
      const revoke = () => store.revokeToken({ id: brief.id, projectId: world.project, audit })
      assert.deepEqual([await revoke(), await revoke()], [true, false])
      restore()
    }),
  )

  test(
    'deliveries wait at most a minute after the clock was set back, and keys are valid for a day',
    inWorld(async (world) => {
      const { store, clock } = world
      const now = clock.now()
      clock.advance(400 * DAY_MS)
      await putWebhook(world)
      const { id } = await deliverTo(world)
      assert.equal(only(await claimDue(world, 1)).id, id)
      const idempotency = { key: 'pay-8', digest: 'd', until: clock.now() + DAY_MS }
      const run = world.newRun({ idempotency })
      await world.submit(run)
      const restore = expect(world, () => now)
      await store.rewindTimers()
      assert.deepEqual(await claimDue(world, 2), [])
      restore()
      const soon = expect(world, () => now + MINUTE_MS)
      assert.equal(only(await claimDue(world, 2)).id, id)
      soon()
      const aDayLater = expect(world, () => now + DAY_MS + 1)
      await store.maintain({ mayDelete: true })
      const repeat = world.newRun({ idempotency })
      assert.deepEqual(await world.submit(repeat), [{ kind: 'inserted' }])
      aDayLater()
    }),
  )

  test(
    'while the clock is in doubt, maintenance keeps idempotency keys, and an old key finds its run',
    inWorld(async (world) => {
      const { store, clock } = world
      const idempotency = { key: 'pay-9', digest: 'd', until: clock.now() + DAY_MS }
      const run = world.newRun({ idempotency })
      await world.submit(run)
      clock.advance(400 * DAY_MS)
      await store.maintain({ mayDelete: false })
      const repeat = world.newRun({ idempotency: { ...idempotency, until: clock.now() + DAY_MS } })
      assert.deepEqual(await world.submit(repeat), [{ kind: 'duplicate', id: run.id }])
    }),
  )

  test(
    'while the clock is in doubt, maintenance deletes no lost session; afterwards it does',
    inWorld(async ({ store, clock, node, session }) => {
      await adoptInto(store, { node, session, registration: 1 })
      await store.markSessionLost({ session, registration: 1 })
      clock.advance(400 * DAY_MS)
      await store.maintain({ mayDelete: false })
      assert.equal((await store.loadSession({ session }))?.registration, 1)
      await store.maintain({ mayDelete: true })
      assert.equal(await store.loadSession({ session }), null)
    }),
  )
}

/** Rewinds with an outdated last fire time, as a node does that read the schedule before it fired. */
async function rewindStale(world: StoreWorld, id: number): Promise<number> {
  const { version, next } = await load(world, id)
  const command = { id, version, nominalAt: next.nominalAt, lastNominalAt: 1, next }
  return world.store.rewindSchedules([command], nowOf(world))
}

/** A backfill that a node checks again in an hour. */
async function startBackfill(world: StoreWorld): Promise<number> {
  const { id: scheduleId } = await putNew(world)
  const id = world.mint()
  const audit = auditOf(world, 'schedule.backfill')
  const { store, project: projectId, node, clock } = world
  await store.addBackfill({ id, projectId, scheduleId, spec: '{}', audit })
  await store.advanceBackfill({
    node,
    id,
    version: 1,
    processedUntil: null,
    passed: 0,
    error: null,
    state: 'running',
    checkAt: clock.now() + HOUR_MS,
    openRuns: [],
    runs: [],
  })
  return id
}
