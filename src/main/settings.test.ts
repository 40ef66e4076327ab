import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from './settings.ts'

test('without a word it serves on loopback and keeps its data beside it', () => {
  assert.deepEqual(readSettings([], {}), {
    host: '127.0.0.1',
    port: 7420,
    dataDir: '.punctual',
    store: 'sqlite:.punctual/punctual.db',
  })
})

test('a flag wins over the environment, which wins over the default', () => {
  const env = {
    PUNCTUAL_LISTEN: 'localhost:1',
    PUNCTUAL_DATA: '/a',
    PUNCTUAL_STORE: 'postgres://b',
  }
  assert.deepEqual(readSettings(['--listen', '[::1]:2'], env), {
    host: '::1',
    port: 2,
    dataDir: '/a',
    store: 'postgres://b',
  })
})

for (const [why, listen] of [
  ['an address others can reach', '0.0.0.0:7420'],
  ['a public name', 'example.org:80'],
  ['no port', '127.0.0.1'],
  ['a port that does not exist', '127.0.0.1:65536'],
  ['a word for a port', '127.0.0.1:http'],
  ['nothing', ''],
] as const) {
  test(`${why} is refused`, () => {
    assert.throws(() => readSettings(['--listen', listen], {}), { code: 'config_invalid' })
  })
}
