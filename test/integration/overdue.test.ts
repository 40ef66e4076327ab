import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Assignment } from '../../src/core/wire/protocol.ts'
import { startInMemory } from './scheduler-in-memory.ts'
import { type ManualWorker, registerManualWorker } from './manual-worker.ts'

const BY = { project: 'default', actor: null, request: null, address: null }
const TIMEOUT_MS = 1_000
/** What the server adds to the timeout. */
const MARGIN_MS = 15_000

/** Time until the server ends an attempt whose worker is alive and does not report its end. */
async function endedAfter(
  { clock }: Awaited<ReturnType<typeof startInMemory>>,
  worker: ManualWorker,
  run: Assignment,
): Promise<number> {
  for (let ms = 0; ms < 120_000; ms += 1_000) {
    const { lost } = await worker.heartbeat(1, [{ run: run.run, fence: run.fence }])
    if (lost.length > 0) return ms
    await clock.advance(1_000)
  }
  return Infinity
}

for (const [grace, mostMs] of [
  [undefined, 0],
  ['30s', 30_000],
] as const) {
  for (const whose of ['run', 'job'] as const) {
    test(`an attempt is overdue only after the grace period of its ${whose}: ${grace ?? 'none'}`, async () => {
      const opened = await startInMemory()
      const client = opened.node.clientFor('default')
      const command = { run: 'sleep 1000', ...(grace && { kill_grace: grace }) }
      if (whose === 'job') {
        await opened.node.admin.jobs.put(BY, 'job', { ...command, timeout: '1s' }, null)
      }
      const worker = await registerManualWorker(client, { executors: ['shell'] })
      const work = { executor: 'shell', run: 'sleep 1000', kill_grace_ms: mostMs } as const
      await client.submit([
        whose === 'job' ? { job: 'job' } : { job: 'job', timeoutMs: TIMEOUT_MS, work },
      ])
      const [run] = await worker.take()
      assert.ok(run?.work)
      const ms = await endedAfter(opened, worker, run)
      const dueMs = TIMEOUT_MS + mostMs + MARGIN_MS
      assert.ok(ms >= dueMs && ms <= dueMs + 3_000, `ended after ${ms} ms, not ${dueMs}`)
      const ended = await client.getRun(run.run)
      assert.deepEqual([ended.state, ended.cause], ['failed', 'timeout'])
    })
  }
}
