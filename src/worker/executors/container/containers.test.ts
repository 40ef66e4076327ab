// Containers on an engine that is a script: what goes wrong around them.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { ContainerWork } from '../../../core/container-work.ts'
import { openPerformer } from '../../testing/performing-worker.ts'
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

/** From here on, programs in Node cannot be started; until the answer is called. */
function breakNode(t: TestContext): () => void {
  const path = process.execPath
  const mend = () => void (process.execPath = path)
  t.after(mend)
  process.execPath = '/no/such/node'
  return mend
}

test('a launcher that could not be started is not missing for good', { skip }, async (t) => {
  const { engine } = scripted(t)
  const { perform, worker, scheduler } = await openPerformer(t, {
    ...{ processes: {}, containers: { engine } },
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
  const { perform, worker, scheduler } = await openPerformer(t, {
    ...{ processes: {}, containers: { engine } },
  })
  breakNode(t)
  await perform('run_a', work)
  await worker.drain(0)
  assert.equal(scheduler.messages('leave').length, 1)
})
