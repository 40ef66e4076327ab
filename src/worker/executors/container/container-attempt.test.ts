// Failures before there is a container; no engine is started.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ContainerWork } from '../../../core/work/container-work.ts'
import type { AttemptFiles, AttemptFileStore } from '../files/attempt-files.ts'
import { endOf, grant } from '../../testing/lone-attempt.ts'
import { ContainerAttempt, type ContainerDeps } from './container-attempt.ts'
import { createEngine } from './engine.ts'

/** Refused because no mount is allowed: the attempt gets no further than its files. */
const work: ContainerWork = {
  executor: 'container',
  image: 'none',
  network: 'none',
  pull: 'never',
  mounts: [{ source: '/etc', target: '/mnt' }],
}

function endIn(open: AttemptFileStore['open']) {
  const fileStore: AttemptFileStore = {
    open,
    prepare: () => undefined,
    secretFiles: () => undefined,
    readResult: async () => ({}),
    clear: () => Promise.reject(new Error('gone')),
    close: async () => {},
  }
  const deps: ContainerDeps = {
    engine: createEngine('no-engine', []),
    allowMounts: [],
    args: [],
    bounds: {},
    fileStore,
    outputBuffer: { add() {}, remove() {} },
    owner: 'nobody',
    janitor: { watch: async () => {}, release() {}, close: async () => {}, detach() {} },
    launchers: { pick: () => assert.fail('nothing is to be launched') },
    removals: { remove: async () => true },
  }
  return endOf((hooks) => new ContainerAttempt(grant('run_a', { work }), work, hooks, deps))
}

test('a container whose files cannot be created fails to start, and the worker goes on', async () => {
  const done = await endIn(() => {
    throw new Error('ENOSPC: no space left on device, mkdir')
  })
  assert.equal(done?.cause, 'start_error')
  assert.match(done?.message ?? '', /ENOSPC: no space left on device/)
})

test('files that cannot be removed do not change the outcome of a container', async (t) => {
  const envFile = mkdtempSync(join(tmpdir(), 'punctual-not-a-file-'))
  t.after(() => rmSync(envFile, { recursive: true }))
  const paths = { input: '', output: '', script: '', secrets: '', envFile }
  const files: AttemptFiles = { ...paths, tmp: undefined }
  const done = await endIn(() => files)
  assert.equal(done?.cause, 'start_error')
  assert.match(done?.message ?? '', /\/etc/)
})
