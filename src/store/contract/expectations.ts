import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idAtMs } from '../../core/ids.ts'
import type { Lapse } from '../../core/expectation/violation.ts'
import type { Expectation, ExpectationRecord, SeenExpectation } from '../port.ts'
import { at, HOUR_MS, only } from './fixture.ts'
import { commandFor, fireOne, MINUTE_MS, putNew, toRun } from './schedule-fixture.ts'
import { put, told } from './webhook-fixture.ts'
import { onSharedStore, type OpenStore, type World } from './world.ts'

const TERMS = '{"endBy":1}'
const LATE: Lapse = { kind: 'late', dueAt: 1_000 }
const UNFINISHED: Lapse = { kind: 'unfinished', dueAt: 2_000 }

/** A time of a new schedule becomes a run of which something is expected. */
async function fireExpected(
  world: World,
  expected: Partial<Expectation> = {},
): Promise<ExpectationRecord> {
  const schedule = await putNew(world)
  world.clock.advance(MINUTE_MS)
  const nominalAt = schedule.next.nominalAt as number
  const lookAt = world.clock.now() + MINUTE_MS
  const time = { ...toRun(world, nominalAt), expected: { lookAt, terms: TERMS, ...expected } }
  const verdict = await fireOne(world, commandFor(world, schedule, { settled: [time] }))
  assert.equal(verdict.kind, 'done')
  return only(await world.store.expectationsOf([time.run.id]))
}

function seen(
  { runId, version }: ExpectationRecord,
  lapses: readonly Lapse[],
  left: Expectation | null = null,
): SeenExpectation {
  return { runId, version, lapses, left }
}

export function lapsesContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'what is expected is there with the run, and found when it is to be looked at',
    inWorld(async (world) => {
      const now = world.clock.now()
      const later = await fireExpected(world, { lookAt: now + HOUR_MS })
      const sooner = await fireExpected(world, { lookAt: now + HOUR_MS - 1 })
      assert.deepEqual(later, {
        runId: later.runId,
        version: 1,
        lookAt: now + HOUR_MS,
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
      assert.ok(nextAt <= sooner.lookAt)
      await world.store.settleExpectations([seen(sooner, []), seen(later, [])])
      assert.deepEqual(await world.store.expectationsOf([sooner.runId, later.runId]), [])
    }),
  )

  test(
    'where no run is made, nothing is expected',
    inWorld(async (world) => {
      const schedule = await putNew(world)
      const open = await world.start()
      world.clock.advance(MINUTE_MS + 1)
      const expected = { lookAt: 1, terms: TERMS }
      const command = (times: number[]) =>
        commandFor(world, schedule, {
          settled: times.map((nominalAt) => ({ ...toRun(world, nominalAt), expected })),
          ...{ overlap: { kind: 'skip' } as const, remembers: true },
        })
      const first = schedule.next.nominalAt as number
      // The second of two that are fired together meets the first.
      const both = command([first, first + 1])
      assert.deepEqual(await fireOne(world, both), {
        ...{ kind: 'done', outcomes: ['fired', 'skipped'] },
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
    'what did not come true is written down, and told to those who ask for it',
    inWorld(async (world) => {
      await put(world, { events: ['run.late', 'run.empty', 'run.failed'] })
      const expected = await fireExpected(world)
      const { runId } = expected
      const left = { lookAt: expected.lookAt + 5, terms: '{"endBy":2}' }
      assert.deepEqual(await world.store.settleExpectations([seen(expected, [LATE], left)]), [
        runId,
      ])
      const moved = only(await world.store.expectationsOf([runId]))
      assert.deepEqual(moved, { runId, version: 2, ...left })
      const noticed = world.clock.now()
      world.clock.advance(7)
      await world.store.settleExpectations([seen(moved, [UNFINISHED])])
      assert.deepEqual(await world.store.lapsesOf([runId]), [
        { runId, ...LATE, at: noticed },
        { runId, ...UNFINISHED, at: noticed + 7 },
      ])
      assert.deepEqual(await told(world), [[runId, 'run.late']], 'nobody asked for unfinished ones')
      assert.deepEqual(await world.store.expectationsOf([runId]), [])
    }),
  )

  test(
    'whoever comes second writes nothing down',
    inWorld(async (world) => {
      await put(world, { events: ['run.late'] })
      const expected = await fireExpected(world)
      const all = await Promise.all(
        [1, 2, 3].map(() => world.store.settleExpectations([seen(expected, [LATE])])),
      )
      assert.deepEqual(all.flat(), [expected.runId])
      assert.deepEqual(await world.store.settleExpectations([seen(expected, [UNFINISHED])]), [])
      const { runId } = expected
      assert.deepEqual(
        (await world.store.lapsesOf([runId])).map(({ kind }) => kind),
        ['late'],
      )
      assert.deepEqual(await told(world), [[runId, 'run.late']])
    }),
  )

  test(
    'a kind is told once for a run, whatever anybody saw',
    inWorld(async (world) => {
      await put(world, { events: ['run.late'] })
      const expected = await fireExpected(world)
      const left = { lookAt: expected.lookAt, terms: TERMS }
      await world.store.settleExpectations([seen(expected, [LATE], left)])
      const again = { ...expected, version: 2 }
      assert.deepEqual(await world.store.settleExpectations([seen(again, [LATE])]), [again.runId])
      assert.deepEqual(await told(world), [[expected.runId, 'run.late']])
      assert.equal((await world.store.lapsesOf([expected.runId])).length, 1)
    }),
  )

  test(
    'many are settled at once, each by itself',
    inWorld(async (world) => {
      await put(world, { events: ['run.late', 'run.unfinished'] })
      const [one, two, three] = [
        await fireExpected(world),
        await fireExpected(world),
        await fireExpected(world),
      ]
      const gone = { ...two, version: 9 }
      const answered = await world.store.settleExpectations([
        seen(three, [LATE, UNFINISHED]),
        seen(gone, [LATE]),
        seen(one, [UNFINISHED], { lookAt: 5, terms: TERMS }),
      ])
      const byId = (a: number, b: number) => a - b
      assert.deepEqual(answered.toSorted(byId), [one.runId, three.runId].toSorted(byId))
      const pairs = (await told(world)).map(([runId, event]) => `${runId} ${event}`)
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
    'what is long over is forgotten',
    inWorld(async (world) => {
      const old = await fireExpected(world)
      await world.store.settleExpectations([seen(old, [LATE, UNFINISHED])])
      world.clock.advance(HOUR_MS)
      const recent = await fireExpected(world)
      await world.store.settleExpectations([seen(recent, [LATE])])
      const before = idAtMs(world.clock.now() - HOUR_MS / 2)
      while ((await world.store.pruneOccurrences({ before, limit: 3 })).more);
      const kept = await world.store.lapsesOf([old.runId, recent.runId])
      assert.deepEqual(
        kept.map(({ runId }) => runId),
        [recent.runId],
      )
    }),
  )
}
