import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createVirtualClock } from '../../../../test/support/virtual-clock.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { createEngine } from './engine.ts'
import { openSweep } from './sweep.ts'

const skip = process.platform === 'win32' && 'needs a shell'

/** A script in place of an engine. */
function open(t: TestContext, script: string) {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-sweep-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const command = join(dir, 'podman')
  writeFileSync(command, `#!/bin/sh\n${script}\n`)
  chmodSync(command, 0o755)
  const clock = createVirtualClock()
  const errors: unknown[] = []
  let late = 0
  const opening = openSweep(createEngine(command), {
    clock,
    onError: (error: unknown) => errors.push(error),
    onLate: () => (late += 1),
  })
  return { dir, clock, errors, late: () => late, opening }
}

test('an engine that hangs does not prevent a worker from starting', { skip }, async (t) => {
  const { clock, errors, opening } = open(t, 'exec sleep 1000')
  let isOpen = false
  void opening.then(() => (isOpen = true))
  await clock.advance(9_999)
  assert.ok(!isOpen)
  await clock.advance(1)
  const sweep = await opening
  assert.ok(!sweep.isDone())
  assert.match(String(errors), /containers are not offered .* does not answer/)
  await sweep.close()
  assert.equal(errors.length, 1)
})

test('removal is retried until the engine succeeds', { skip }, async (t) => {
  const here = '"$(dirname "$0")"'
  const { dir, clock, errors, late, opening } = open(t, `[ -e ${here}/back ] || exit 1`)
  const sweep = await opening
  assert.ok(!sweep.isDone())
  writeFileSync(join(dir, 'back'), '')
  await waitFor(() => clock.sleeping() > 0, { what: 'the pause' })
  await clock.advance(3_000)
  await sweep.finished
  assert.deepEqual([sweep.isDone(), late(), errors.length, clock.sleeping()], [true, 1, 1, 0])
  await sweep.close()
})
