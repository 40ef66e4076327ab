import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type GivenProcessSettings,
  processSettingsIn,
  readProcessSettings,
} from './process-settings.ts'
import { collectSettingErrors } from './setting-errors.ts'

function read(given: GivenProcessSettings) {
  const refusals = collectSettingErrors()
  const settings = readProcessSettings(given, refusals)
  refusals.throwIfAny()
  return settings
}

test('without settings there are no limits and no users, and the best available launcher is used', () => {
  assert.deepEqual(read(processSettingsIn({ PUNCTUAL_LIMIT: '' })), {
    limits: {},
    allowUsers: [],
    runAs: undefined,
    allowRoot: undefined,
    launcher: undefined,
    containment: undefined,
  })
})

test('limits have a default and a maximum; users may be given as lists', () => {
  const env = {
    PUNCTUAL_LIMIT: 'memory=512MiB..2GiB,pids=500,cpu=0.5',
    PUNCTUAL_ALLOW_USER: 'deploy,www-data',
    PUNCTUAL_RUN_AS: 'nobody',
    PUNCTUAL_ALLOW_ROOT: '1',
    PUNCTUAL_LAUNCHER: 'native',
    PUNCTUAL_CONTAINMENT: 'pidns',
  }
  assert.deepEqual(read(processSettingsIn(env)), {
    limits: {
      memory: { default: 2 ** 29, max: 2 ** 31 },
      pids: { default: 500, max: 500 },
      cpu: { default: 0.5, max: 0.5 },
    },
    allowUsers: ['deploy', 'www-data'],
    runAs: 'nobody',
    allowRoot: true,
    launcher: 'native',
    containment: 'pidns',
  })
  assert.deepEqual(read({ allowUser: ['a,b', 'c'] }).allowUsers, ['a', 'b', 'c'])
})

const refused: [why: string, given: GivenProcessSettings, said: RegExp][] = [
  ['a limit without a value', { limit: ['memory'] }, /^limit "memory" is not NAME=VALUE/],
  ['an unknown limit', { limit: ['disk=1GiB'] }, /^limit "disk=1GiB" .* memory, cpu, pids/],
  ['a member of every object', { limit: ['constructor=1'] }, /^limit "constructor=1"/],
  ['no memory', { limit: ['memory=0B'] }, /^limit memory must be from 1 MiB/],
  ['a limit twice', { limit: ['pids=1', 'pids=2'] }, /^limit names pids twice/],
  ['a user by number', { allowUser: ['0'] }, /^allow-user "0" is not the name of a user/],
  ['an empty user', { allowUser: ['a,'] }, /^allow-user "" is not/],
  ['a default user with a wrong name', { runAs: 'a b' }, /^run-as "a b" is not/],
  [
    'an unknown launcher',
    { launcher: 'systemd' },
    /^launcher "systemd" is not one of auto, native/,
  ],
  ['an unknown containment', { containment: 'jail' }, /^containment "jail" .* pidns, cgroup/],
]
for (const [why, given, said] of refused) {
  test(`${why} is refused`, () => assert.throws(() => read(given), { message: said }))
}
