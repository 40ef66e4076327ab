import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idAtMs } from '../../../core/ids.ts'
import type { ExpectationViolation } from '../../../core/expectation/violation.ts'
import type { Expectation, ExpectationRecord, CheckedExpectation } from '../../port.ts'
import { at, HOUR_MS, only } from '../fixture.ts'
import { commandFor, fireOne, MINUTE_MS, putNew, toRun } from '../schedules/schedule-fixture.ts'
import { putTestWebhook, queuedEvents } from '../webhooks/webhook-fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const TERMS = '{"endBy":1}'
const LATE: ExpectationViolation = { kind: 'late', dueAt: 1_000 }
const UNFINISHED: ExpectationViolation = { kind: 'unfinished', dueAt: 2_000 }

/** A time of a new schedule becomes a run with an expectation. */
async function fireExpected(
  world: StoreWorld,
  expected: Partial<Expectation> = {},
): Promise<ExpectationRecord> {
  const schedule = await putNew(world)
  world.clock.advance(MINUTE_MS)
  const nominalAt = schedule.next.nominalAt as number
  const checkAt = world.clock.now() + MINUTE_MS
  const time = { ...toRun(world, nominalAt), expected: { checkAt, terms: TERMS, ...expected } }
  const verdict = await fireOne(world, commandFor(world, schedule, { settled: [time] }))
  assert.equal(verdict.kind, 'done')
  return only(await world.store.expectationsOf([time.run.id]))
}

function seen(
  { runId, version }: ExpectationRecord,
  violations: readonly ExpectationViolation[],
  remaining: Expectation | null = null,
): CheckedExpectation {
  return { runId, version, violations, remaining }
}

export function expectationsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'an expectation is stored with its run, and found when its check is due',
    inWorld(async (world) => {
      const now = world.clock.now()
      const later = await fireExpected(world, { checkAt: now + HOUR_MS })
      const sooner = await fireExpected(world, { checkAt: now + HOUR_MS - 1 })
      assert.deepEqual(later, {
        runId: later.runId,
        version: 1,
        checkAt: now + HOUR_MS,
        terms: TERMS,
      })
      const due = async (until: number, limit = 1_000) => {
        const all = await world.store.dueExpectations({ until, limit })
        const own = new Set([later.runId, sooner.runId])
        return all.filter(({ runId }) => own.has(runId))
      }
      assert.deepEqual(await due(now + HOUR_MS - 2), [])
      assert.deepEqual(await due(now + HOUR_MS - 1), [sooner])
      assert.deepEqual(await due(now + HOUR_MS), [sooner, later])
      const nextAt = (await world.store.nextExpectationAt()) as number
      assert.ok(nextAt <= sooner.checkAt)
      await world.store.settleExpectations([seen(sooner, []), seen(later, [])])
      assert.deepEqual(await world.store.expectationsOf([sooner.runId, later.runId]), [])
    }),
  )

  test(
    'a firing that creates no run stores no expectation',
    inWorld(async (world) => {
      const schedule = await putNew(world)
      const open = await world.start()
      world.clock.advance(MINUTE_MS + 1)
      const expected = { checkAt: 1, terms: TERMS }
      const command = (times: number[]) =>
        commandFor(world, schedule, {
          settled: times.map((nominalAt) => ({ ...toRun(world, nominalAt), expected })),
          overlap: { kind: 'skip' } as const,
          tracksOpenRuns: true,
        })
      const first = schedule.next.nominalAt as number
      // Of two times that fire together, the second overlaps the run of the first.
      const both = command([first, first + 1])
      assert.deepEqual(await fireOne(world, both), {
        kind: 'done',
        outcomes: ['fired', 'skipped'],
        openRuns: [
          at(
            both.settled.flatMap((one) => (one.kind === 'run' ? one.run.id : [])),
            0,
          ),
        ],
      })
      const ids = both.settled.flatMap((one) => (one.kind === 'run' ? one.run.id : []))
      const found = await world.store.expectationsOf([...ids, open.runId])
      assert.deepEqual(
        found.map(({ runId }) => runId),
        ids.slice(0, 1),
      )
      await world.store.settleExpectations(found.map((one) => seen(one, [])))
    }),
  )

  test(
    'a violation is recorded, with an event for webhooks that subscribe to it',
    inWorld(async (world) => {
      await putTestWebhook(world, { events: ['run.late', 'run.empty', 'run.failed'] })
      const expected = await fireExpected(world)
      const { runId } = expected
      const remaining = { checkAt: expected.checkAt + 5, terms: '{"endBy":2}' }
      assert.deepEqual(await world.store.settleExpectations([seen(expected, [LATE], remaining)]), [
        runId,
      ])
      const moved = only(await world.store.expectationsOf([runId]))
      assert.deepEqual(moved, { runId, version: 2, ...remaining })
      const noticed = world.clock.now()
      world.clock.advance(7)
      await world.store.settleExpectations([seen(moved, [UNFINISHED])])
      assert.deepEqual(await world.store.violationsOf([runId]), [
        { runId, ...LATE, at: noticed },
        { runId, ...UNFINISHED, at: noticed + 7 },
      ])
      assert.deepEqual(
        await queuedEvents(world),
        [[runId, 'run.late']],
        'no webhook subscribes to unfinished',
      )
      assert.deepEqual(await world.store.expectationsOf([runId]), [])
    }),
  )

  test(
    'the second of two concurrent checks records nothing',
    inWorld(async (world) => {
      await putTestWebhook(world, { events: ['run.late'] })
      const expected = await fireExpected(world)
      const all = await Promise.all(
        [1, 2, 3].map(() => world.store.settleExpectations([seen(expected, [LATE])])),
      )
      assert.deepEqual(all.flat(), [expected.runId])
      assert.deepEqual(await world.store.settleExpectations([seen(expected, [UNFINISHED])]), [])
      const { runId } = expected
      assert.deepEqual(
        (await world.store.violationsOf([runId])).map(({ kind }) => kind),
        ['late'],
      )
      assert.deepEqual(await queuedEvents(world), [[runId, 'run.late']])
    }),
  )

  test(
    'a kind of violation is reported once per run, whatever later checks see',
    inWorld(async (world) => {
      await putTestWebhook(world, { events: ['run.late'] })
      const expected = await fireExpected(world)
      const remaining = { checkAt: expected.checkAt, terms: TERMS }
      await world.store.settleExpectations([seen(expected, [LATE], remaining)])
      const again = { ...expected, version: 2 }
      assert.deepEqual(await world.store.settleExpectations([seen(again, [LATE])]), [again.runId])
      assert.deepEqual(await queuedEvents(world), [[expected.runId, 'run.late']])
      assert.equal((await world.store.violationsOf([expected.runId])).length, 1)
    }),
  )

  test(
    'many expectations are settled in one call, independently',
    inWorld(async (world) => {
      await putTestWebhook(world, { events: ['run.late', 'run.unfinished'] })
      const [one, two, three] = [
        await fireExpected(world),
        await fireExpected(world),
        await fireExpected(world),
      ]
      const gone = { ...two, version: 9 }
      const answered = await world.store.settleExpectations([
        seen(three, [LATE, UNFINISHED]),
        seen(gone, [LATE]),
        seen(one, [UNFINISHED], { checkAt: 5, terms: TERMS }),
      ])
      const byId = (a: number, b: number) => a - b
      assert.deepEqual(answered.toSorted(byId), [one.runId, three.runId].toSorted(byId))
      const pairs = (await queuedEvents(world)).map(([runId, event]) => `${runId} ${event}`)
      assert.deepEqual(
        pairs.toSorted(),
        [
          `${one.runId} run.unfinished`,
          `${three.runId} run.late`,
          `${three.runId} run.unfinished`,
        ].toSorted(),
      )
      assert.deepEqual(await world.store.expectationsOf([two.runId]), [two])
      await world.store.settleExpectations([seen(two, []), seen({ ...one, version: 2 }, [])])
    }),
  )

  test(
    'old expectations and violations are deleted',
    inWorld(async (world) => {
      const old = await fireExpected(world)
      await world.store.settleExpectations([seen(old, [LATE, UNFINISHED])])
      world.clock.advance(HOUR_MS)
      const recent = await fireExpected(world)
      await world.store.settleExpectations([seen(recent, [LATE])])
      const before = idAtMs(world.clock.now() - HOUR_MS / 2)
      while ((await world.store.pruneOccurrences({ before, limit: 3 })).more);
      const kept = await world.store.violationsOf([old.runId, recent.runId])
      assert.deepEqual(
        kept.map(({ runId }) => runId),
        [recent.runId],
      )
    }),
  )
}
