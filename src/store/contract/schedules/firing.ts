import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idAtMs } from '../../../core/ids.ts'
import type { Overlap } from '../../../core/schedule/firing/overlap.ts'
import type { FireCommand, FireVerdict } from '../../port.ts'
import { DAY_MS, HOUR_MS, ids, only, runIds, originOf } from '../fixture.ts'
import {
  auditOf,
  commandFor,
  fireAll,
  fireNext,
  fireOne,
  load,
  MINUTE_MS,
  occurrencesOf,
  putNew,
  outcomesOf,
  toRun,
} from './schedule-fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const kinds = (verdicts: readonly FireVerdict[]) => verdicts.map(({ kind }) => kind)

/** Fires the schedule's next time, with the clock set to it, and returns the run. */
async function nextRun(
  world: StoreWorld,
  id: number,
  overrides: Partial<FireCommand> = {},
): Promise<{ runId: number; verdict: FireVerdict }> {
  const schedule = await load(world, id)
  const nominalAt = schedule.next.nominalAt as number
  world.clock.advance(Math.max(0, nominalAt - world.clock.now()))
  const settled = [toRun(world, nominalAt, { gates: await gatesFor(world, id, overrides.overlap) })]
  const verdict = await fireOne(world, commandFor(world, schedule, { settled, ...overrides }))
  return { runId: only(settled).run.id, verdict }
}

async function gatesFor(world: StoreWorld, id: number, overlap?: Overlap): Promise<number[]> {
  const isGated = overlap?.kind === 'queue' || overlap?.kind === 'replace'
  return isGated ? [await world.gate(`schedule ${id}`, 1)] : []
}

function overlapping(overlap: Overlap): Partial<FireCommand> {
  return { overlap, tracksOpenRuns: overlap.kind !== 'allow' }
}

export function firingContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'a due time becomes a run that knows it, an occurrence, and the next time',
    inWorld(async (world) => {
      const schedule = await putNew(world)
      const nominalAt = schedule.next.nominalAt as number
      world.clock.advance(MINUTE_MS + 3)
      const command = commandFor(world, schedule)
      const { verdicts, lanes, now } = await fireAll(world, command)
      assert.deepEqual(verdicts, [{ kind: 'done', outcomes: ['fired'], openRuns: [] }])
      assert.deepEqual([lanes, now], [[world.lane], world.clock.now()])
      const lease = only(await world.claim(9))
      assert.equal(lease.dueAt, nominalAt)
      const moved = await load(world, schedule.id)
      assert.deepEqual(moved.next, command.next)
      assert.deepEqual([moved.lastNominalAt, moved.version], [nominalAt, 1])
      const record = {
        id: lease.runId,
        runId: lease.runId,
        scheduleId: schedule.id,
        version: 1,
        count: 1,
        projectId: world.project,
        nominalAt,
        untilAt: nominalAt,
        at: now,
        outcome: 'fired',
        reason: null,
        detail: null,
        otherRunId: null,
      }
      assert.deepEqual(await occurrencesOf(world, schedule.id), [record])
      assert.deepEqual(await world.store.occurrenceOf({ runId: lease.runId }), record)
      const origins = await world.store.originsOf({ runIds: [5, lease.runId] })
      assert.deepEqual(origins, [originOf(lease.runId, { scheduleId: schedule.id })])
      assert.deepEqual(await world.store.schedulesFollowing([lease.runId, 5]), [])
    }),
  )

  test(
    'a time becomes one run, however many nodes fire it',
    inWorld(async (world) => {
      const schedule = await putNew(world)
      world.clock.advance(MINUTE_MS)
      const commands = Array.from({ length: 8 }, () => commandFor(world, schedule))
      const results = await Promise.all(commands.map((command) => fireAll(world, command)))
      const all = kinds(results.flatMap(({ verdicts }) => verdicts))
      assert.deepEqual(all.toSorted(), ['done', ...all.slice(1).map(() => 'lost')])
      const first = commandFor(world, await load(world, schedule.id))
      world.clock.advance(MINUTE_MS)
      const twice = await fireAll(world, first, { ...first, settled: [] })
      assert.deepEqual(kinds(twice.verdicts), ['done', 'lost'])
      assert.equal((await world.claim(9)).length, 2)
      assert.deepEqual(await outcomesOf(world, schedule.id), ['fired', 'fired'])
    }),
  )

  test(
    'nothing fires before its time by the clock of the store',
    inWorld(async (world) => {
      const schedule = await putNew(world)
      world.clock.advance(MINUTE_MS - 1)
      const command = commandFor(world, schedule)
      assert.deepEqual(await fireOne(world, command), { kind: 'early' })
      world.clock.advance(1)
      assert.equal((await fireOne(world, command)).kind, 'done')
    }),
  )

  test(
    'a batch decided by a clock that stood still or is ahead changes nothing',
    inWorld(async (world) => {
      const schedule = await putNew(world)
      world.clock.advance(MINUTE_MS)
      const { node, clock, store } = world
      const commands = [commandFor(world, schedule)]
      const now = clock.now()
      const fireWithin = async (validFrom: number, validUntil: number) =>
        kinds((await store.fire({ node, validFrom, validUntil, aheadTo: null, commands })).verdicts)
      assert.deepEqual(await fireWithin(0, now - 1), ['outdated'])
      assert.deepEqual(await fireWithin(now + 1, now + 2), ['outdated'])
      assert.deepEqual(await load(world, schedule.id), schedule)
      assert.deepEqual(await fireWithin(now, now), ['done'])
    }),
  )

  test(
    'a clock that steps back fires nothing again, and firing continues where it was',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      await nextRun(world, id)
      const fired = await load(world, id)
      world.clock.advance(-HOUR_MS)
      assert.deepEqual(await fireNext(world, id), { kind: 'early' })
      // A node that would fire a past time once more, if the row allowed it.
      const again = commandFor(world, fired, { settled: [toRun(world, fired.lastNominalAt ?? 0)] })
      world.clock.advance(HOUR_MS + MINUTE_MS)
      assert.deepEqual(await fireOne(world, again), { kind: 'lost' })
      assert.equal((await fireNext(world, id)).kind, 'done')
      assert.equal((await world.claim(9)).length, 2)
    }),
  )

  test(
    'times without a run are recorded as well, one by one or as a range',
    inWorld(async (world) => {
      const schedule = await putNew(world)
      const first = schedule.next.nominalAt as number
      world.clock.advance(DAY_MS)
      const last = first + 20 * HOUR_MS
      const run = toRun(world, last)
      const verdict = await fireOne(
        world,
        commandFor(world, schedule, {
          settled: [
            {
              kind: 'none',
              nominalAt: first,
              untilAt: last - 2,
              count: null,
              outcome: 'missed',
              reason: 'too_old',
            },
            {
              kind: 'none',
              nominalAt: last - 1,
              untilAt: last - 1,
              count: 1,
              outcome: 'missed',
              reason: 'superseded',
              detail: 'x',
            },
            { ...run, late: 'made_up' },
          ],
        }),
      )
      assert.deepEqual(verdict, { kind: 'done', outcomes: ['delayed'], openRuns: [] })
      const story = ['missed too_old', 'missed superseded', 'delayed made_up']
      assert.deepEqual(await outcomesOf(world, schedule.id), story)
      const [range, point] = await occurrencesOf(world, schedule.id)
      assert.deepEqual([range?.nominalAt, range?.untilAt, range?.count], [first, last - 2, null])
      assert.deepEqual([point?.untilAt, point?.count, point?.detail], [last - 1, 1, 'x'])
      assert.equal(range?.id, idAtMs(world.clock.now()))
      assert.equal((await load(world, schedule.id)).lastNominalAt, last)
      // A range is found by any time it overlaps.
      const ask = { scheduleId: schedule.id, limit: 9 }
      const middle = await world.store.occurrences({ ...ask, from: first + 9, until: first + 9 })
      assert.deepEqual(middle, [range])
      const after = await world.store.occurrences({ ...ask, from: last, until: last + 1 })
      assert.equal(only(after).runId, run.run.id)
    }),
  )

  test(
    'outcomes other than a plain firing are listed per project, the latest first',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      for (const late of [null, 'late', null, 'made_up'] as const) {
        const schedule = await load(world, id)
        world.clock.advance(MINUTE_MS)
        const settled = [{ ...toRun(world, schedule.next.nominalAt as number), late }]
        await fireOne(world, commandFor(world, schedule, { settled }))
      }
      const list = (before: Parameters<StoreWorld['store']['unusualOccurrences']>[0]['before']) =>
        world.store.unusualOccurrences({ projectId: world.project, before, limit: 1 })
      const first = only(await list(null))
      const second = only(await list(first))
      assert.deepEqual([first.reason, second.reason], ['made_up', 'late'])
      assert.deepEqual(await list(second), [])
    }),
  )

  test(
    'thousands fire in one transaction, each with its own outcome',
    inWorld(async (world) => {
      const schedules = []
      for (let i = 0; i < 300; i += 1) schedules.push(await putNew(world))
      world.clock.advance(MINUTE_MS)
      const commands = schedules.map((schedule, index) =>
        commandFor(world, schedule, index % 3 === 0 ? { version: 9 } : {}),
      )
      const { verdicts } = await fireAll(world, ...commands.toReversed())
      const expected = commands.map((_, index) => (index % 3 === 0 ? 'lost' : 'done'))
      assert.deepEqual(kinds(verdicts.toReversed()), expected)
      assert.equal((await world.claim(400)).length, 200)
    }),
  )

  test(
    'where overlap is allowed, open runs are not checked',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      for (let i = 0; i < 3; i += 1) await nextRun(world, id)
      assert.equal((await world.claim(9)).length, 3)
      assert.deepEqual((await load(world, id)).openRuns, [])
    }),
  )

  test(
    'a time that overlaps an open run is skipped, and its occurrence names that run',
    inWorld(async (world) => {
      const skip = overlapping({ kind: 'skip' })
      const { id } = await putNew(world)
      const { runId } = await nextRun(world, id, skip)
      assert.deepEqual((await load(world, id)).openRuns, [runId])
      const { verdict } = await nextRun(world, id, skip)
      assert.deepEqual(verdict, { kind: 'done', outcomes: ['skipped'], openRuns: [runId] })
      const [, record] = await occurrencesOf(world, id)
      assert.deepEqual(
        [record?.reason, record?.otherRunId, record?.runId],
        ['overlap', runId, null],
      )
      await world.end(only(await world.claim(9)))
      const last = await nextRun(world, id, skip)
      assert.deepEqual(last.verdict, { kind: 'done', outcomes: ['fired'], openRuns: [last.runId] })
    }),
  )

  test(
    'one run waits for the previous run, a further one is merged with it',
    inWorld(async (world) => {
      const queue = overlapping({ kind: 'queue', most: 1 })
      const { id } = await putNew(world)
      const first = await nextRun(world, id, queue)
      const second = await nextRun(world, id, queue)
      await nextRun(world, id, queue)
      const story = ['fired', 'blocked overlap', 'merged overlap']
      assert.deepEqual(await outcomesOf(world, id), story)
      const [, waits, merged] = await occurrencesOf(world, id)
      assert.deepEqual([waits?.otherRunId, waits?.runId], [first.runId, second.runId])
      assert.deepEqual([merged?.otherRunId, merged?.runId], [second.runId, null])
      assert.equal(await world.stateOf(second.runId), 'blocked')
      await world.end(only(await world.claim(9)))
      assert.deepEqual(runIds(await world.claim(9)), [second.runId])
      const fourth = await nextRun(world, id, queue)
      assert.deepEqual((await load(world, id)).openRuns, [second.runId, fourth.runId])
    }),
  )

  test(
    'several times in one batch apply the overlap rule to each other in their order',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      const schedule = await load(world, id)
      const first = schedule.next.nominalAt as number
      world.clock.advance(HOUR_MS)
      const gates = [await world.gate(`schedule ${id}`, 1)]
      const settled = [0, 1, 2, 3].map((n) => toRun(world, first + n, { gates }))
      const queue = overlapping({ kind: 'queue', most: 1 })
      const verdict = await fireOne(world, commandFor(world, schedule, { settled, ...queue }))
      assert.ok(verdict.kind === 'done')
      assert.deepEqual(verdict.outcomes, ['fired', 'blocked', 'merged', 'merged'])
      assert.deepEqual(
        verdict.openRuns,
        settled.slice(0, 2).map(({ run }) => run.id),
      )
    }),
  )

  test(
    'a run that replaces others cancels waiting ones, marks running ones, and starts when those have ended',
    inWorld(async (world) => {
      const replace = overlapping({ kind: 'replace' })
      const { id } = await putNew(world)
      const first = await nextRun(world, id, replace)
      const lease = only(await world.claim(9))
      const second = await nextRun(world, id, replace)
      assert.equal((await world.find(first.runId)).cancelling, true)
      assert.equal(await world.stateOf(second.runId), 'blocked')
      const third = await nextRun(world, id, replace)
      assert.equal(await world.stateOf(second.runId), 'cancelled')
      assert.deepEqual(await world.claim(9), [])
      await world.end(lease, { to: 'cancelled', cause: 'cancelled' })
      assert.deepEqual(runIds(await world.claim(9)), [third.runId])
      assert.deepEqual(await outcomesOf(world, id), ['fired', 'fired', 'fired'])
    }),
  )

  test(
    'of several runs that would replace each other at once only the last is created',
    inWorld(async (world) => {
      const schedule = await putNew(world)
      const first = schedule.next.nominalAt as number
      world.clock.advance(HOUR_MS)
      const gates = [await world.gate(`schedule ${schedule.id}`, 1)]
      const settled = [0, 1, 2].map((n) => toRun(world, first + n, { gates }))
      const replace = overlapping({ kind: 'replace' })
      await fireOne(world, commandFor(world, schedule, { settled, ...replace }))
      const story = ['merged overlap', 'merged overlap', 'fired']
      assert.deepEqual(await outcomesOf(world, schedule.id), story)
      assert.deepEqual(ids(await world.list()), [settled[2]?.run.id])
    }),
  )

  test(
    'a pruned run does not count as open',
    inWorld(async (world) => {
      const skip = overlapping({ kind: 'skip' })
      const { id } = await putNew(world)
      await nextRun(world, id, skip)
      const lease = only(await world.claim(9))
      await world.end(lease)
      world.clock.advance(400 * DAY_MS)
      const endedBefore = world.clock.now() - DAY_MS
      while ((await world.store.prune({ endedBefore, limit: 1_000 })).more);
      const schedule = await load(world, id)
      const settled = [toRun(world, world.clock.now())]
      const verdict = await fireOne(world, commandFor(world, schedule, { settled, ...skip }))
      assert.deepEqual(verdict.kind === 'done' && verdict.outcomes, ['fired'])
    }),
  )

  test(
    'a schedule that follows the end of its run is checked without a next time',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      const checkAt = world.clock.now() + 2 * MINUTE_MS
      const waits = { next: { nominalAt: null, checkAt }, tracksOpenRuns: true }
      const { runId } = await nextRun(world, id, waits)
      const waiting = await load(world, id)
      assert.deepEqual([waiting.next, waiting.openRuns], [waits.next, [runId]])
      assert.deepEqual(await world.store.schedulesFollowing([runId, 5, runId]), [id])
      await world.end(only(await world.claim(9)))
      // A node that saw the run end need not wait for the next check.
      const command = commandFor(world, waiting, { tracksOpenRuns: true })
      assert.equal((await fireOne(world, command)).kind, 'done')
      const moved = await load(world, id)
      assert.deepEqual([moved.next, moved.openRuns], [command.next, []])
    }),
  )

  test(
    'a run whose id is taken is refused with the whole batch, and nothing advances',
    inWorld(async (world) => {
      const schedule = await putNew(world)
      const other = await putNew(world)
      const taken = world.newRun()
      await world.submit(taken)
      world.clock.advance(MINUTE_MS)
      const settled = [toRun(world, schedule.next.nominalAt as number, { id: taken.id })]
      await assert.rejects(
        fireAll(world, commandFor(world, other), commandFor(world, schedule, { settled })),
        { outcome: 'refused' },
      )
      assert.deepEqual(await load(world, other.id), other)
      assert.deepEqual(await outcomesOf(world, other.id), [])
    }),
  )

  test(
    'old occurrences are deleted in batches, with schedules deleted before',
    inWorld(async (world) => {
      const { id } = await putNew(world)
      for (let i = 0; i < 3; i += 1) await nextRun(world, id)
      await world.store.deleteSchedule({
        projectId: world.project,
        id,
        audit: auditOf(world, 'schedule.delete'),
      })
      world.clock.advance(HOUR_MS)
      const kept = await putNew(world)
      await nextRun(world, kept.id)
      const before = idAtMs(world.clock.now() - HOUR_MS / 2)
      while ((await world.store.pruneOccurrences({ before, limit: 2 })).more);
      assert.deepEqual(await outcomesOf(world, id), [])
      assert.deepEqual(await outcomesOf(world, kept.id), ['fired'])
    }),
  )
}
