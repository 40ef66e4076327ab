import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseArgs } from 'node:util'
import { settingsOfFlags, START_OPTIONS } from './start-options.ts'

test('npm start accepts the flags of punctual up, under the names of the settings', () => {
  const args = ['--plain-empty', 'json', '--plain-ttl', '1m', '--open', '--allow-host', 'a.example']
  const { values } = parseArgs({ args, options: START_OPTIONS })
  assert.deepEqual(settingsOfFlags(values), {
    plainEmpty: 'json',
    plainTtl: '1m',
    open: true,
    allowHost: ['a.example'],
  })
})
