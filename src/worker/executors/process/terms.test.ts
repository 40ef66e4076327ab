import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Work } from '../../../core/work/work.ts'
import type { Abilities } from '../../launcher/messages.ts'
import { type ExecutionHost, advertise, checkHost } from './host.ts'
import type { LocalUser } from './local-users.ts'
import { termsOf } from './terms.ts'

const user = (name: string, uid: number): LocalUser => ({
  name,
  uid,
  gid: uid,
  groups: [uid, 44],
  home: `/home/${name}`,
  shell: '/bin/sh',
})
const ABLE: Abilities = {
  kind: 'native',
  containment: 'pidns',
  limits: ['memory', 'cpu', 'pids', 'files'],
  canSwitchUser: true,
  holdsLock: false,
  hidesFiles: false,
  why: '',
}
const UNABLE: Abilities = { ...ABLE, limits: ['files'], canSwitchUser: false, why: 'be root' }
const HOST: ExecutionHost = {
  bounds: { output: { default: 1_000, max: 5_000 } },
  users: new Map([user('deploy', 1_000), user('me', 0)].map((one) => [one.name, one])),
  defaultUser: undefined,
  abilities: ABLE,
  secretFiles: 'private',
  uid: 0,
  isRootAllowed: false,
}
const work = (more: Partial<Work>): Work => ({ executor: 'shell', run: 'x', ...more }) as Work

test('a command without limits gets the defaults, and runs as the worker', () => {
  assert.deepEqual(termsOf(work({}), HOST), {
    user: undefined,
    switchTo: undefined,
    limits: { output_bytes: 1_000 },
    launcherLimits: undefined,
    messages: [],
  })
})

test("the launcher switches to an allowed user, but not to the worker's own", () => {
  const other = termsOf(work({ run_as: 'deploy' }), HOST)
  assert.ok('user' in other)
  assert.deepEqual(other.switchTo, { uid: 1_000, gid: 1_000, groups: [1_000, 44] })
  const self = termsOf(work({ run_as: 'me' }), { ...HOST, abilities: UNABLE })
  assert.ok('user' in self)
  assert.deepEqual([self.user?.name, self.switchTo], ['me', undefined])
  const withDefault = termsOf(work({}), { ...HOST, defaultUser: 'deploy' })
  assert.equal('user' in withDefault && withDefault.user?.name, 'deploy')
})

test('the launcher gets only what it has to enforce', () => {
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
  test(`a worker that cannot enforce a command's terms refuses it: ${why}`, () => {
    const terms = termsOf(work(asked), { ...HOST, abilities: UNABLE })
    assert.ok('refused' in terms)
    assert.match(terms.refused, sentence)
  })
}

test("a worker that cannot enforce its operator's settings does not start", () => {
  assert.equal(checkHost(HOST), undefined)
  const bounds = { pids: { default: 5, max: 5 } }
  assert.match(checkHost({ ...HOST, abilities: UNABLE, bounds })?.message ?? '', /pids.*be root/)
  assert.match(checkHost({ ...HOST, abilities: UNABLE })?.message ?? '', /as deploy here: be root/)
  assert.equal(checkHost({ ...HOST, abilities: UNABLE, users: new Map() }), undefined)
})

test('a worker advertises what it can do', () => {
  assert.deepEqual(advertise({ ...HOST, abilities: UNABLE }, ['deploy', 'deploy']), {
    users: ['deploy'],
    execution: {
      launcher: 'native',
      containment: 'pidns',
      limits: ['files', 'output', 'tmp'],
      secret_files: 'private',
      root: true,
      why: 'be root',
    },
  })
})

const notAsRoot: [why: string, host: Partial<ExecutionHost>][] = [
  ['a worker that is another user', { uid: 1_000 }],
  ['a worker whose commands run as another user', { defaultUser: 'deploy' }],
  ['a worker whose operator allows root', { isRootAllowed: true }],
]
for (const [why, host] of notAsRoot) {
  test(`${why} does not report that commands run as root`, () => {
    assert.equal(advertise({ ...HOST, ...host }, []).execution.root, undefined)
  })
}
