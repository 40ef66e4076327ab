import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeasedAttempt } from '../../src/core/wire/protocol.ts'
import type { ScheduleInput } from '../../src/server/admin/schedule-input.ts'
import type { RuleSource } from '../../src/core/schedule/index.ts'
import { createStoreOnEngine } from '../../src/store/sqlite/store.ts'
import { type InMemoryScheduler, startInMemory } from './scheduler-in-memory.ts'
import { type ManualWorker, registerManualWorker, succeeded } from './manual-worker.ts'

const BY = { project: 'default', actor: null, request: null, address: null }
const JOB = 'tidy'
const START = Date.UTC(2026, 0, 1)
const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 3_600_000
/** Often enough that no lease expires. */
const BEAT_MS = 3_000

interface Setup extends InMemoryScheduler {
  readonly worker: ManualWorker
  /** Lets time pass with these attempts held. */
  pass(ms: number, held?: readonly LeasedAttempt[]): Promise<void>
  /** Violations as `10 slow`: found ten seconds after the clock was set. */
  lapses(): string[]
}

async function openSetup(rule: RuleSource, settings: Partial<ScheduleInput>): Promise<Setup> {
  const world = await startInMemory()
  const { node, clock, engine } = world
  const worker = await registerManualWorker(node.clientFor('default'), { jobs: [JOB], slots: 9 })
  await node.admin.schedules.put(BY, JOB, 'rule', { rule, ...settings })
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

test('a run that takes twice its typical duration is slow, once five durations are known, and is reported while it runs', async () => {
  const setup = await openSetup({ every: '1m' }, { expectTimes: 2 })
  const { worker, clock, pass, lapses } = setup
  const take = async (minute: number): Promise<LeasedAttempt> => {
    await pass(START + minute * MINUTE - clock.now())
    await pass(10)
    const [run] = await worker.take()
    assert.ok(run, `the run of minute ${minute}`)
    return run
  }
  for (let minute = 1; minute <= 5; minute += 1) {
    const run = await take(minute)
    // The first is slow by any measure, but there is nothing to compare with.
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
  assert.equal(
    await createStoreOnEngine(setup.engine).nextExpectationAt(),
    null,
    'nothing is left to be seen',
  )
})

test("a deadline by time of day follows the schedule's zone, whichever of two nodes checks", async () => {
  // Midnight UTC is two in the morning there.
  const rule = { cron: '1,4 2 * * *', zone: 'Europe/Athens' }
  const setup = await openSetup(rule, { deadlineClock: '02:03', overlap: { kind: 'allow' } })
  await startInMemory({ beside: setup })
  const { worker, pass, lapses } = setup
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
  const { nextExpectationAt } = createStoreOnEngine(setup.engine)
  // Half a second of tolerance.
  assert.equal(await nextExpectationAt(), START + 24 * HOUR + 3 * MINUTE + 500, 'the next day')
  await worker.report([succeeded(second)])
  await pass(5 * SECOND)
  assert.equal(await nextExpectationAt(), null)
  assert.deepEqual(lapses(), ['180 unfinished'])
})
