import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from '../../src/client/index.ts'
import { openScheduler } from '../../src/main/scheduler.ts'
import { seedSqlite } from '../accept/lists/seed.ts'
import { scaledMs } from '../support/slowdown-factor.ts'
import { waitFor } from '../support/wait-for.ts'
import { chaosProcess } from './processes.ts'
import { launch } from './managed-process.ts'
import { SHORT_TIMES } from './short-times.ts'

const LEASE_MS = scaledMs(4_000)
const TIMES = {
  ...SHORT_TIMES,
  leaseTtlMs: LEASE_MS,
  nodeTtlMs: 2 * LEASE_MS,
  steadyMs: 2 * LEASE_MS,
}
const TOKEN = `punctual_root_${'x'.repeat(40)}`
const READERS = 100
const HISTORY = 30_000

test('a hundred readers with a filter that matches nothing cost no worker its attempt, and all get an answer', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-readers-'))
  await seedSqlite(join(dir, 'p.db'), HISTORY)
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
  let isOver = false
  const answers = new Map<number, number>()
  const headers = { authorization: `Bearer ${TOKEN}` }
  const read = async () => {
    while (!isOver) {
      const answer = await fetch(`${url}/v1/runs?q=worker:nobody&limit=10`, { headers })
      await answer.arrayBuffer()
      answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1)
    }
  }
  const readers: Promise<void>[] = []
  t.after(async () => {
    isOver = true
    await Promise.allSettled(readers)
    await worker.kill()
    await client.close()
    await scheduler.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  await worker.ready()
  for (let nth = 0; nth < READERS; nth += 1) readers.push(read())
  const busyMs = 1.5 * TIMES.leaseTtlMs
  const [run] = await client.submit([{ job: 'compute', input: { busyMs } }])
  await waitFor(async () => (await client.getRun(run!.id)).finishedAt !== null, {
    what: 'the run to end',
    deadlineMs: 120_000,
  })
  isOver = true
  await Promise.all(readers)
  const { state, attempt, lost } = await client.getRun(run!.id)
  assert.deepEqual({ state, attempt, lost }, { state: 'succeeded', attempt: 1, lost: 0 })
  assert.ok((answers.get(200) ?? 0) >= READERS, 'pages are served all the while')
  for (const status of answers.keys()) assert.ok([200, 429].includes(status), `answer ${status}`)
})
