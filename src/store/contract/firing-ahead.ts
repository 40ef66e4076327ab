import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idAtMs } from '../../core/ids.ts'
import type { FireBatch, FireCommand, NewRun, Store } from '../port.ts'
import { only, PLAIN_RUN } from './fixture.ts'

const AUDIT = { actor: null, target: 'a', detail: null, request: null, address: null }

/** A schedule that is due so soon, and what fires it. By the real clock: nobody waits by another. */
export async function dueIn(store: Store, ms: number) {
  const projectId = only(await store.internProjects(['default']))
  const jobId = only(await store.internJobs([{ projectId, name: 'tidy' }]))
  const spec = { project: 'default', queue: 'default', labels: [], executor: 'handler:tidy' }
  const laneId = only(await store.internLanes([{ ...spec, weight: 1 }]))
  const dueAt = Date.now() + ms
  const id = idAtMs(dueAt)
  const next = { nominalAt: dueAt, lookAt: dueAt }
  const audit = { ...AUDIT, projectId, action: 'schedule.put' }
  const wish = { id, projectId, jobId, name: `at-${dueAt}`, spec: '{}', next, expect: null }
  await store.putSchedule({ ...wish, most: 99, audit })
  /** Fires the time that is due then, and says when the next one is. */
  const batchAt = (at: number, nextAt: number): FireBatch => {
    const run: NewRun = { ...PLAIN_RUN, id: idAtMs(at) + 1, projectId, jobId, laneId, dueAt: at }
    const command: FireCommand = {
      ...{ id, version: 1, nominalAt: at, overlap: { kind: 'skip' }, remembers: true },
      settled: [{ kind: 'run', nominalAt: at, run, late: null }],
      next: { nominalAt: nextAt, lookAt: nextAt },
    }
    const valid = { validFrom: 0, validUntil: Number.MAX_SAFE_INTEGER }
    return { node: 1, ...valid, notBefore: at, commands: [command] }
  }
  return { id, projectId, dueAt, batchAt, batch: batchAt(dueAt, dueAt + 60_000) }
}

/** What a store promises that may be asked to fire before the time. */
export function firingAheadContract(
  inStore: (use: (store: Store) => Promise<void>) => () => Promise<void>,
) {
  const story = async (store: Store, scheduleId: number) => {
    const range = { from: 0, until: Number.MAX_SAFE_INTEGER, limit: 9 }
    return await store.occurrences({ scheduleId, ...range })
  }

  test(
    'what is asked for ahead is done when its time has come, and counts as of then',
    inStore(async (store) => {
      assert.ok(store.aheadMs > 0)
      const { id, dueAt, batch } = await dueIn(store, 95)
      const { verdicts, now, lanes } = await store.fire(batch)
      assert.ok(Date.now() >= dueAt)
      assert.ok(now >= dueAt)
      assert.equal(only(verdicts).kind, 'done')
      assert.equal(lanes.length, 1)
      const record = only(await story(store, id))
      assert.deepEqual([record.outcome, record.at], ['fired', now])
    }),
  )

  test(
    'nobody waits for what is far away',
    inStore(async (store) => {
      const { batch } = await dueIn(store, 600_000)
      const { verdicts, heldMs } = await store.fire(batch)
      assert.deepEqual([verdicts, heldMs], [[{ kind: 'early' }], 0])
    }),
  )

  test(
    'who pauses a schedule meanwhile is before it or after it, never in between',
    inStore(async (store) => {
      const { id, projectId, batch } = await dueIn(store, 60)
      const audit = { ...AUDIT, projectId, action: 'schedule.pause' }
      const pause = { id, projectId, until: null, reason: null, audit }
      const [fired] = await Promise.all([store.fire(batch), store.pauseSchedule(pause)])
      const isFired = only(fired.verdicts).kind === 'done'
      const [schedule] = await store.findSchedules([id])
      assert.equal(schedule?.next.nominalAt === batch.notBefore, !isFired)
      assert.equal((await story(store, id)).length, isFired ? 1 : 0)
      assert.ok(schedule?.pause)
    }),
  )
}
