import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerInput } from './container-work.ts'
import { readSubmission, writeSubmission } from '../wire/runs.ts'
import { readWork, type WorkInput } from './work.ts'

const image = 'ghcr.io/acme/etl:1.4@sha256:0123'

test('accepts a container with only an image', () => {
  assert.deepEqual(readWork({ container: { image } }), { executor: 'container', image })
})

test('reads, writes and reads again a container with every field', () => {
  const input: WorkInput = {
    container: {
      image,
      command: ['--day', '', 'mon day'],
      entrypoint: ['/bin/etl'],
      mounts: [{ source: '/srv/data', target: '/data', readonly: true }],
      workdir: '/data',
      user: '1000:1000',
      network: 'none',
      pull: 'never',
    },
    env: { KEY: 'two\nlines', PATH: '/bin' },
    stdin: 'x',
    kill_grace: '1m',
    limits: { memory: '64MiB', pids: 10 },
  }
  const read = readSubmission({ job: 'etl', ...input })
  assert.deepEqual(read.work, {
    executor: 'container',
    ...input.container,
    env: input.env,
    stdin: 'x',
    kill_grace_ms: 60_000,
    limits: { memory_bytes: 64 * 1024 ** 2, pids: 10 },
  })
  assert.deepEqual(readSubmission(writeSubmission(read)), read)
})

const refused: [why: string, input: Partial<ContainerInput>, field: string][] = [
  ['no image', { image: '' }, 'image'],
  ['an image that is an option', { image: '--privileged' }, 'image'],
  ['an image with a space', { image: 'a b' }, 'image'],
  ['NUL in a command', { command: ['a', '\0'] }, 'command.1'],
  ['an empty entrypoint', { entrypoint: [] }, 'entrypoint'],
  ['a user that is an option', { user: '-u' }, 'user'],
  ['a relative directory', { workdir: 'a' }, 'workdir'],
  ['a mount from nowhere', { mounts: [{ source: 'a', target: '/b' }] }, 'mounts.0.source'],
  ['a mount from above', { mounts: [{ source: '/a/../b', target: '/b' }] }, 'mounts.0.source'],
  ['a mount with options', { mounts: [{ source: '/a,ro=1', target: '/b' }] }, 'mounts.0.source'],
  ['a mount to two places', { mounts: [{ source: '/a', target: '/b:/c' }] }, 'mounts.0.target'],
  ['a mount on the root directory', { mounts: [{ source: '/a', target: '/' }] }, 'mounts.0.target'],
  [
    'two mounts in one place',
    {
      mounts: [
        { source: '/a', target: '/b' },
        { source: '/c', target: '/b' },
      ],
    },
    'mounts.1.target',
  ],
]
for (const [why, input, field] of refused) {
  test(`rejects ${why} and names the field`, () => {
    const container = { image, ...input }
    const at = { code: 'invalid_field', field: `runs.3.container.${field}` }
    assert.throws(() => readWork({ container }, 'runs.3.'), at)
  })
}

test('rejects a line break in a variable that container engines interpret', () => {
  for (const name of ['PATH', 'DOCKER_HOST', 'LD_PRELOAD', 'https_proxy', 'GOMAXPROCS']) {
    const input = { container: { image }, env: { [name]: 'a\nb' } }
    assert.throws(() => readWork(input, 'runs.3.'), { field: `runs.3.env.${name}` })
  }
})

test('rejects a user or directory of the host for a container', () => {
  for (const [field, value] of Object.entries({ cwd: '/', umask: '022', run_as: 'a' })) {
    assert.throws(() => readWork({ container: { image }, [field]: value }), { field })
  }
})
