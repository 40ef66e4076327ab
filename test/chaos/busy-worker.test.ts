import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from '../../src/client/index.ts'
import { openScheduler } from '../../src/main/scheduler.ts'
import { scaledMs } from '../support/slowdown-factor.ts'
import { waitFor } from '../support/wait-for.ts'
import { chaosProcess } from './processes.ts'
import { launch } from './managed-process.ts'
import { SHORT_TIMES } from './short-times.ts'

/** Long enough for a heartbeat to arrive on a machine that is busy with other tests. */
const LEASE_MS = scaledMs(6_000, 4)
const TIMES = {
  ...SHORT_TIMES,
  leaseTtlMs: LEASE_MS,
  nodeTtlMs: 2 * LEASE_MS,
  steadyMs: 2 * LEASE_MS,
}
const TOKEN = `punctual_root_${'x'.repeat(40)}`

test('a handler that blocks its thread for two leases keeps them, and ends its first attempt', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-busy-'))
  const store = `sqlite:${join(dir, 'p.db')}`
  const scheduler = await openScheduler({ store, rootToken: TOKEN, config: TIMES })
  const url = await scheduler.listen({ host: '127.0.0.1', port: 0 })
  const client = connect({ url, token: TOKEN })
  const worker = launch({
    name: 'busy',
    command: chaosProcess('busy-worker-process.ts', { url, token: TOKEN }),
    cacheDir: join(dir, 'cache'),
    errorPath: join(dir, 'errors'),
    onDeath: () => {},
  })
  t.after(async () => {
    await worker.kill()
    await client.close()
    await scheduler.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  await worker.ready()
  const busyMs = 2 * TIMES.leaseTtlMs
  const [run] = await client.submit([{ job: 'compute', input: { busyMs } }])
  await waitFor(async () => (await client.getRun(run!.id)).finishedAt !== null, {
    what: 'the run to end',
    deadlineMs: 120_000,
  })
  const { state, attempt, lost } = await client.getRun(run!.id)
  assert.deepEqual({ state, attempt, lost }, { state: 'succeeded', attempt: 1, lost: 0 })
})
