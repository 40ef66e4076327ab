// What goes wrong before there is a container; no engine is asked.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ContainerWork } from '../../../core/work/container-work.ts'
import type { AttemptFiles, FileRoom } from '../process/attempt-files.ts'
import { endOf, grant } from '../../testing/lone-attempt.ts'
import { ContainerAttempt, type ContainerDeps } from './container-attempt.ts'
import { createEngine } from './engine.ts'

/** Refused, because nothing may be mounted: it gets no further than its files. */
const work: ContainerWork = {
  ...{ executor: 'container', image: 'none', network: 'none', pull: 'never' },
  mounts: [{ source: '/etc', target: '/mnt' }],
}

function endIn(open: FileRoom['open']) {
  const room: FileRoom = {
    open,
    prepare: () => undefined,
    readResult: async () => ({}),
    clear: () => Promise.reject(new Error('gone')),
    close: async () => {},
  }
  const deps: ContainerDeps = {
    ...{ engine: createEngine('no-engine', []), allowMounts: [], args: [], bounds: {}, room },
    shelf: { add() {}, remove() {} },
    owner: 'nobody',
    janitor: { watch: async () => {}, release() {}, close: async () => {}, part() {} },
    launcher: () => assert.fail('nothing is to be launched'),
    remove: async () => true,
  }
  return endOf((hooks) => new ContainerAttempt(grant('run_a', { work }), work, hooks, deps))
}

test('a container whose files have no room fails to start, and the worker goes on', async () => {
  const done = await endIn(() => {
    throw new Error('ENOSPC: no space left on device, mkdir')
  })
  assert.equal(done?.cause, 'start_error')
  assert.match(done?.message ?? '', /ENOSPC: no space left on device/)
})

test('files that cannot be removed do not change how a container ended', async (t) => {
  const script = mkdtempSync(join(tmpdir(), 'punctual-not-a-file-'))
  t.after(() => rmSync(script, { recursive: true }))
  const files: AttemptFiles = { input: '', output: '', script, secrets: '', tmp: undefined }
  const done = await endIn(() => files)
  assert.equal(done?.cause, 'start_error')
  assert.match(done?.message ?? '', /\/etc/)
})
