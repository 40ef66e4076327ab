import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Held } from '../../src/core/wire/protocol.ts'
import type { ScheduleInput } from '../../src/server/admin/schedule-input.ts'
import type { RuleSource } from '../../src/core/schedule/index.ts'
import { storeOn } from '../../src/store/sqlite/store.ts'
import { type InMemory, startInMemory } from './scheduler-in-memory.ts'
import { type HandWorker, registerByHand, succeeded } from './manual-worker.ts'

const BY = { project: 'default', actor: null, request: null, address: null }
const JOB = 'tidy'
const START = Date.UTC(2026, 0, 1)
const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 3_600_000
/** Often enough that no lease runs out. */
const BEAT_MS = 3_000

interface Scene extends InMemory {
  readonly worker: HandWorker
  /** Time goes by while these are held. */
  pass(ms: number, held?: readonly Held[]): Promise<void>
  /** What did not come true, as `10 slow`: ten seconds after the clock was set, by then it should have been otherwise. */
  lapses(): string[]
}

async function openScene(rule: RuleSource, said: Partial<ScheduleInput>): Promise<Scene> {
  const world = await startInMemory()
  const { node, clock, engine } = world
  const worker = await registerByHand(node.clientFor('default'), { jobs: [JOB], slots: 9 })
  await node.admin.schedules.put(BY, JOB, 'rule', { rule, ...said })
  let answered = 0
  return {
    ...world,
    worker: {
      ...worker,
      exchange(message) {
        answered += 1
        return worker.exchange(message)
      },
      take: (free) => ((answered += 1), worker.take(free)),
      report: (done, free) => ((answered += 1), worker.report(done, free)),
    },
    async pass(ms, held = []) {
      for (let left = ms; left > 0; left -= BEAT_MS) {
        await clock.advance(Math.min(BEAT_MS, left))
        await worker.heartbeat(answered, held)
      }
    },
    lapses() {
      const rows = engine.raw.prepare('SELECT kind, due_at FROM lapse ORDER BY due_at, kind').all()
      const kinds = ['late', 'slow', 'unfinished', 'empty']
      return (rows as { kind: number; due_at: number }[]).map(
        ({ kind, due_at }) => `${(due_at - START) / SECOND} ${kinds[kind]}`,
      )
    },
  }
}

test('twice as long as usual is slow, once five times are known, and while it runs', async () => {
  const scene = await openScene({ every: '1m' }, { expectTimes: 2 })
  const { worker, clock, pass, lapses } = scene
  const take = async (minute: number): Promise<Held> => {
    await pass(START + minute * MINUTE - clock.now())
    await pass(10)
    const [run] = await worker.take()
    assert.ok(run, `the run of minute ${minute}`)
    return run
  }
  for (let minute = 1; minute <= 5; minute += 1) {
    const run = await take(minute)
    // The first is slow by any measure, and nobody can know.
    await pass(minute === 1 ? 50 * SECOND : 6 * SECOND, [run])
    await worker.report([succeeded(run)])
  }
  const run = await take(6)
  await pass(11 * SECOND, [run])
  assert.deepEqual(lapses(), [])
  await pass(4 * SECOND, [run])
  assert.deepEqual(lapses(), [`${360.01 + 12} slow`], 'the median is six seconds')
  await pass(30 * SECOND, [run])
  await worker.report([succeeded(run)])
  await pass(5 * SECOND)
  assert.equal(lapses().length, 1)
  assert.equal(await storeOn(scene.engine).nextExpectationAt(), null, 'nothing is left to be seen')
})

test('by a time of the day, on the clocks of the schedule, whichever of two nodes looks', async () => {
  // Midnight here is two in the morning there.
  const rule = { cron: '1,4 2 * * *', zone: 'Europe/Athens' }
  const scene = await openScene(rule, { deadlineClock: '02:03', overlap: { kind: 'allow' } })
  await startInMemory({ beside: scene })
  const { worker, pass, lapses } = scene
  await pass(61 * SECOND)
  const [first] = await worker.take()
  assert.ok(first)
  await pass(118 * SECOND, [first])
  assert.deepEqual(lapses(), [])
  await pass(4 * SECOND, [first])
  assert.deepEqual(lapses(), ['180 unfinished'])
  await worker.report([succeeded(first)])
  await pass(58 * SECOND)
  const [second] = await worker.take()
  assert.ok(second)
  const { nextExpectationAt } = storeOn(scene.engine)
  // Half a second is given.
  assert.equal(await nextExpectationAt(), START + 24 * HOUR + 3 * MINUTE + 500, 'the next day')
  await worker.report([succeeded(second)])
  await pass(5 * SECOND)
  assert.equal(await nextExpectationAt(), null)
  assert.deepEqual(lapses(), ['180 unfinished'])
})
