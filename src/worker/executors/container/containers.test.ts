// Containers on an engine that is a script: what goes wrong around them.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { flushTasks } from '../../../../test/support/virtual-clock.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import type { ContainerWork } from '../../../core/work/container-work.ts'
import { createFakeScheduler, LONG_LEASE } from '../../testing/fake-scheduler.ts'
import { openRealTimeWorker } from '../../testing/performing-worker.ts'
import { systemClock } from '../../clock/system-clock.ts'
import { createWorker } from '../../worker.ts'
import { createEngine } from './engine.ts'

const skip = process.platform === 'win32' && 'needs a shell'
const work: ContainerWork = { executor: 'container', image: 'any', command: ['true'] }

/** An engine that does what `script` says, and nothing otherwise. */
function scripted(t: TestContext, script = '') {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-containers-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const command = join(dir, 'podman')
  writeFileSync(command, `#!/bin/sh\nhere=${dir}\n${script}\n`, { mode: 0o755 })
  return { dir, engine: createEngine(command) }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Makes programs in Node impossible to start until the returned function is called. */
function breakNode(t: TestContext): () => void {
  const path = process.execPath
  const mend = () => void (process.execPath = path)
  t.after(mend)
  process.execPath = '/no/such/node'
  return mend
}

test('a launcher that could not be started is tried again', { skip }, async (t) => {
  const { engine } = scripted(t)
  const { perform, worker, scheduler } = await openRealTimeWorker(t, {
    processes: {},
    containers: { engine },
  })
  const mend = breakNode(t)
  assert.equal((await perform('run_a', work)).cause, 'start_error')
  mend()
  assert.equal((await perform('run_b', work)).outcome, 'succeeded')
  await worker.drain(0)
  assert.equal(scheduler.messages('leave').length, 1)
})

test('a worker without the launcher of its containers says goodbye', { skip }, async (t) => {
  const { engine } = scripted(t)
  const { perform, worker, scheduler } = await openRealTimeWorker(t, {
    processes: {},
    containers: { engine },
  })
  breakNode(t)
  await perform('run_a', work)
  await worker.drain(0)
  assert.equal(scheduler.messages('leave').length, 1)
})

test(
  'executors that become available while the worker registers are offered',
  { skip },
  async (t) => {
    const { dir, engine } = scripted(t, '[ -e $here/back ] || exit 1; echo $$ > $here/asked')
    const client = createFakeScheduler(systemClock, LONG_LEASE)
    const { register } = client
    client.register = async (hello, secret) => {
      const welcome = await register(hello, secret)
      // The answer stays in flight until the engine is back and was asked again.
      writeFileSync(join(dir, 'back'), '')
      const pid = await waitFor(() => Number(readFileSync(join(dir, 'asked'), 'utf8')), {
        what: 'the engine to be asked',
      })
      await waitFor(() => !isThere(pid), { what: 'its answer' })
      await flushTasks()
      return welcome
    }
    const worker = createWorker({ client, name: 'w', processes: {}, containers: { engine } })
    t.after(() => worker.drain(0))
    await worker.start()
    const again = await waitFor(() => client.messages('register')[1], {
      what: 'the offer of containers',
      deadlineMs: 10_000,
    })
    assert.ok(!client.messages('register')[0]?.executors.includes('container'))
    assert.deepEqual([again.session, again.registration], ['ses_1', 2])
    assert.ok(again.executors.includes('container'))
    await waitFor(() => client.messages('exchange').length > 0, { what: 'work to be asked for' })
    assert.equal(client.messages('register').length, 2)
  },
)
