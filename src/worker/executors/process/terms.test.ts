import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Work } from '../../../core/work/work.ts'
import type { Abilities } from '../../launcher/messages.ts'
import { type Host, introduce, refuseHost } from './host.ts'
import type { LocalUser } from './local-users.ts'
import { termsOf } from './terms.ts'

const user = (name: string, uid: number): LocalUser => ({
  ...{ name, uid, gid: uid, groups: [uid, 44], home: `/home/${name}`, shell: '/bin/sh' },
})
const ABLE: Abilities = {
  kind: 'native',
  containment: 'pidns',
  limits: ['memory', 'cpu', 'pids', 'files'],
  canSwitchUser: true,
  why: '',
}
const UNABLE: Abilities = { ...ABLE, limits: ['files'], canSwitchUser: false, why: 'be root' }
const HOST: Host = {
  bounds: { output: { usual: 1_000, most: 5_000 } },
  users: new Map([user('deploy', 1_000), user('me', 0)].map((one) => [one.name, one])),
  usualUser: undefined,
  abilities: ABLE,
  uid: 0,
  isRootMeant: false,
}
const work = (more: Partial<Work>): Work => ({ executor: 'shell', run: 'x', ...more }) as Work

test('a command that asks for nothing gets what is usual, and runs as the worker', () => {
  assert.deepEqual(termsOf(work({}), HOST), {
    user: undefined,
    switchTo: undefined,
    limits: { output_bytes: 1_000 },
    launcherLimits: undefined,
    remarks: [],
  })
})

test('a user that is allowed is switched to, the worker itself is not', () => {
  const other = termsOf(work({ run_as: 'deploy' }), HOST)
  assert.ok('user' in other)
  assert.deepEqual(other.switchTo, { uid: 1_000, gid: 1_000, groups: [1_000, 44] })
  const self = termsOf(work({ run_as: 'me' }), { ...HOST, abilities: UNABLE })
  assert.ok('user' in self)
  assert.deepEqual([self.user?.name, self.switchTo], ['me', undefined])
  const usual = termsOf(work({}), { ...HOST, usualUser: 'deploy' })
  assert.equal('user' in usual && usual.user?.name, 'deploy')
})

test('the launcher is told what it has to enforce, and nothing else', () => {
  const limits = { memory_bytes: 2 ** 20, cpu: 0.5, tmp_bytes: 4_096 }
  const terms = termsOf(work({ limits }), HOST)
  assert.ok('limits' in terms)
  assert.deepEqual(terms.launcherLimits, { memoryBytes: 2 ** 20, cpu: 0.5 })
  assert.deepEqual(terms.limits, { ...limits, output_bytes: 1_000 })
})

const REFUSED: readonly [why: string, asked: Partial<Work>, sentence: RegExp][] = [
  ['a user who is not allowed', { run_as: 'root' }, /does not allow root: .*--allow-user root/],
  ['a user without the means', { run_as: 'deploy' }, /cannot run anything as deploy: be root/],
  ['memory', { limits: { memory_bytes: 2 ** 29 } }, /limit of memory of 512 MiB: be root/],
  ['a part of a core', { limits: { cpu: 0.5 } }, /limit of cpu of 0\.5: be root/],
  ['processes', { limits: { files: 99, pids: 7 } }, /limit of pids of 7: be root/],
]
for (const [why, asked, sentence] of REFUSED) {
  test(`a worker that cannot hold a command to it says so: ${why}`, () => {
    const terms = termsOf(work(asked), { ...HOST, abilities: UNABLE })
    assert.ok('refused' in terms)
    assert.match(terms.refused, sentence)
  })
}

test('a worker that cannot keep what its operator says does not start', () => {
  assert.equal(refuseHost(HOST), undefined)
  const bounds = { pids: { usual: 5, most: 5 } }
  assert.match(refuseHost({ ...HOST, abilities: UNABLE, bounds })?.message ?? '', /pids.*be root/)
  assert.match(refuseHost({ ...HOST, abilities: UNABLE })?.message ?? '', /as deploy here: be root/)
  assert.equal(refuseHost({ ...HOST, abilities: UNABLE, users: new Map() }), undefined)
})

test('it introduces itself with what it can do', () => {
  assert.deepEqual(introduce({ ...HOST, abilities: UNABLE }, ['deploy', 'deploy']), {
    users: ['deploy'],
    execution: {
      launcher: 'native',
      containment: 'pidns',
      limits: ['files', 'output', 'tmp'],
      root: true,
      why: 'be root',
    },
  })
})

const notAsRoot: [why: string, host: Partial<Host>][] = [
  ['who is somebody else', { uid: 1_000 }],
  ['who has them run as somebody', { usualUser: 'deploy' }],
  ['whose operator means it', { isRootMeant: true }],
]
for (const [why, host] of notAsRoot) {
  test(`${why} does not say that commands run as root`, () => {
    assert.equal(introduce({ ...HOST, ...host }, []).execution.root, undefined)
  })
}
