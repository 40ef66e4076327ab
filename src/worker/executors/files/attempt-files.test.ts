import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Assignment } from '../../../core/wire/protocol.ts'
import { systemClock } from '../../clock/system-clock.ts'
import { createAttemptFileStore } from './attempt-files.ts'

test('secret files that a killed launcher left behind are deleted with the others', async (t) => {
  const room = createAttemptFileStore({
    clock: systemClock,
    onError: (error) => assert.fail(String(error)),
  })
  t.after(() => room.close())
  const assignment = {
    run: 'run_a',
    fence: 1,
    input: null,
    secrets: [{ name: 'KEY', as: 'file', value: 'x' }],
    work: { executor: 'container', image: 'none', network: 'none', pull: 'never' },
  } as unknown as Assignment
  const files = room.open(assignment, undefined)
  const left = [files.envFile, `${files.secrets}KEY`]
  for (const path of left) writeFileSync(path, 'a key')
  await room.clear(assignment, files)
  assert.deepEqual(left.filter(existsSync), [])
})
