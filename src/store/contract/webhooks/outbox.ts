import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndCommand } from '../../port.ts'
import { createSeededRandom, endCommandFor, only } from '../fixture.ts'
import { auditEntry, outboxOf, putTestWebhook, queuedEvents } from './webhook-fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const FAILED = { to: 'failed', cause: 'exit' } as const
type End = 'succeeded' | 'failed' | 'cancelled'

/** The end of an attempt; a success has no cause. */
function ending(to: End): Partial<EndCommand> {
  return to === 'succeeded' ? { to } : { to, cause: to === 'failed' ? 'exit' : 'cancelled' }
}

async function finish(world: StoreWorld, to: End, jobId = world.job): Promise<number> {
  const lease = await world.start({ jobId })
  await world.end(lease, ending(to))
  return lease.runId
}

export function outboxContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'without a webhook no event is recorded',
    inWorld(async (world) => {
      await finish(world, 'failed')
      await finish(world, 'succeeded')
      assert.deepEqual(await queuedEvents(world), [])
    }),
  )

  test(
    'a failure and the first success after it are recorded; earlier ends are not',
    inWorld(async (world) => {
      await finish(world, 'failed')
      await putTestWebhook(world)
      await finish(world, 'succeeded')
      const failed = await finish(world, 'failed')
      const since = world.clock.now()
      world.clock.advance(7)
      const again = await finish(world, 'failed')
      await finish(world, 'cancelled')
      world.clock.advance(7)
      const recovered = await finish(world, 'succeeded')
      await finish(world, 'succeeded')
      assert.deepEqual(await queuedEvents(world), [
        [failed, 'run.failed'],
        [again, 'run.failed'],
        [recovered, 'run.recovered run.succeeded'],
      ])
      const event = (await outboxOf(world)).at(-1)
      const { project, job } = world
      assert.deepEqual(event, {
        id: event?.id,
        runId: recovered,
        projectId: project,
        jobId: job,
        events: 6,
        failingSince: since,
        at: since + 14,
      })
    }),
  )

  for (const [why, end] of [
    ['another attempt', { to: 'retry', cause: 'exit', delayMs: 0 }],
    ['another attempt, later', { to: 'retry', cause: 'exit', delayMs: 500 }],
    ['an attempt given back', { to: 'given_back' }],
  ] as const) {
    test(
      `${why} is no end of the run`,
      inWorld(async (world) => {
        await putTestWebhook(world, { events: ['run.failed', 'run.cancelled', 'run.succeeded'] })
        const lease = await world.start()
        await world.end(lease, end)
        assert.deepEqual(await queuedEvents(world), [])
      }),
    )
  }

  test(
    'an end that is reported twice, or late, is recorded once',
    inWorld(async (world) => {
      await putTestWebhook(world)
      const lease = await world.start()
      const end = endCommandFor(lease, FAILED)
      const { ends } = await world.tick({ ends: [end, end] })
      assert.deepEqual(ends, ['ended', 'replayed'])
      assert.equal(await world.end(lease, FAILED), 'replayed')
      assert.equal(await world.end({ ...lease, fence: lease.fence + 1 }, FAILED), 'stale')
      assert.deepEqual(await queuedEvents(world), [[lease.runId, 'run.failed']])
    }),
  )

  test(
    'only events with a subscription are recorded, as of that time',
    inWorld(async (world) => {
      await putTestWebhook(world, { events: ['run.cancelled'] })
      await finish(world, 'failed')
      await finish(world, 'succeeded')
      const one = await finish(world, 'cancelled')
      const waiting = world.newRun({ dueAt: world.clock.now() + 1_000 })
      await world.submit(waiting)
      await world.cancel(waiting.id)
      await putTestWebhook(world, { name: 'second', events: ['run.succeeded'] })
      const two = await finish(world, 'succeeded')
      await putTestWebhook(world, { name: 'second', events: ['run.succeeded'], enabled: false })
      await finish(world, 'succeeded')
      const audit = auditEntry(world, 'webhook.delete')
      await world.store.deleteWebhook({ projectId: world.project, name: 'pager', audit })
      await finish(world, 'cancelled')
      assert.deepEqual(await queuedEvents(world), [
        [one, 'run.cancelled'],
        [waiting.id, 'run.cancelled'],
        [two, 'run.succeeded'],
      ])
    }),
  )

  test(
    'a run that is cancelled while running is cancelled, whatever its worker reports',
    inWorld(async (world) => {
      await putTestWebhook(world, { events: ['run.failed', 'run.cancelled'] })
      const lease = await world.start()
      await world.cancel(lease.runId)
      assert.deepEqual(await queuedEvents(world), [])
      await world.end(lease, FAILED)
      assert.deepEqual(await queuedEvents(world), [[lease.runId, 'run.cancelled']])
    }),
  )

  test(
    'one project gets no events of another, and one job does not recover from another',
    inWorld(async (world) => {
      await putTestWebhook(world)
      const { store, project, otherProject } = world
      const other = only(await store.internJobs([{ projectId: project, name: 'other' }]))
      const foreign = only(await store.internJobs([{ projectId: otherProject, name: 'x' }]))
      const run = await world.start({ projectId: otherProject, jobId: foreign })
      await world.end(run, FAILED)
      const failed = await finish(world, 'failed')
      await finish(world, 'succeeded', other)
      const recovered = await finish(world, 'succeeded')
      assert.deepEqual(await queuedEvents(world), [
        [failed, 'run.failed'],
        [recovered, 'run.recovered run.succeeded'],
      ])
    }),
  )

  test(
    'a new subscription to recoveries starts empty',
    inWorld(async (world) => {
      await putTestWebhook(world, { events: ['run.recovered'] })
      await finish(world, 'failed')
      await putTestWebhook(world, { events: ['run.recovered'], enabled: false })
      await putTestWebhook(world, { events: ['run.recovered'] })
      await finish(world, 'succeeded')
      assert.deepEqual(await queuedEvents(world), [])
    }),
  )

  test(
    'of runs that end in one tick, the smaller id is the earlier',
    inWorld(async (world) => {
      await putTestWebhook(world)
      const runs = world.newRuns(5)
      await world.submit(...runs)
      const leases = (await world.claim(5)).toSorted((a, b) => a.runId - b.runId)
      const goals: End[] = ['succeeded', 'failed', 'succeeded', 'failed', 'failed']
      const ends = leases.map((lease, index) => endCommandFor(lease, ending(goals[index] as End)))
      await world.tick({ ends: ends.toReversed() })
      const last = await finish(world, 'succeeded')
      assert.deepEqual(await queuedEvents(world), [
        [runs[1]!.id, 'run.failed'],
        [runs[2]!.id, 'run.recovered run.succeeded'],
        [runs[3]!.id, 'run.failed'],
        [runs[4]!.id, 'run.failed'],
        [last, 'run.recovered run.succeeded'],
      ])
    }),
  )

  for (const seed of [1, 2, 3, 4]) {
    test(
      `recoveries match a simple model, in ticks of any size, seed ${seed}`,
      inWorld(async (world) => {
        const random = createSeededRandom(seed)
        const names = ['a', 'b', 'c'].map((name) => ({ projectId: world.project, name }))
        const jobs = await world.store.internJobs(names)
        await putTestWebhook(world, { events: ['run.failed', 'run.recovered'] })
        const failing = new Set<number>()
        const expected: [number, string][] = []
        const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
        for (let round = 0; round < 25; round += 1) {
          const count = 1 + Math.floor(random() * 6)
          const runs = Array.from({ length: count }, () => world.newRun({ jobId: pick(jobs) }))
          await world.submit(...runs)
          const leases = await world.claim(count)
          const commands = leases.map((lease) => {
            const to = pick<End>(['succeeded', 'succeeded', 'failed', 'cancelled'])
            return { lease, to }
          })
          await world.tick({
            ends: commands.map(({ lease, to }) => endCommandFor(lease, ending(to))),
          })
          for (const { lease, to } of commands.toSorted((a, b) => a.lease.runId - b.lease.runId)) {
            const { runId, jobId } = lease
            if (to === 'failed') {
              failing.add(jobId)
              expected.push([runId, 'run.failed'])
            } else if (to === 'succeeded' && failing.delete(jobId)) {
              expected.push([runId, 'run.recovered run.succeeded'])
            }
          }
        }
        assert.deepEqual(await queuedEvents(world), expected)
      }),
    )
  }

  test(
    'concurrent ticks that end runs of one job agree on one order',
    inWorld(async (world) => {
      await putTestWebhook(world, { events: ['run.failed', 'run.recovered', 'run.succeeded'] })
      for (let round = 0; round < 12; round += 1) {
        const runs = world.newRuns(8)
        await world.submit(...runs)
        const leases = await world.claim(8)
        await Promise.all(
          leases.map((lease, index) =>
            world.end(lease, ending(index % 2 ? 'failed' : 'succeeded')),
          ),
        )
      }
      const last = await finish(world, 'succeeded')
      const events = await queuedEvents(world)
      assert.equal(events.filter(([, what]) => what === 'run.failed').length, 48)
      assert.equal(events.length, 97)
      // A success that is written concurrently with a failure may count as the earlier, but between
      // two recoveries something failed, and after the last failure there is one.
      let isFailing = false
      for (const [runId, what] of events) {
        const isRecovery = what === 'run.recovered run.succeeded'
        if (isRecovery) assert.ok(isFailing, 'it was not failing')
        if (runId === last) assert.equal(isRecovery, isFailing)
        if (what !== 'run.succeeded') isFailing = !isRecovery
      }
      assert.equal(isFailing, false)
    }),
  )
}
