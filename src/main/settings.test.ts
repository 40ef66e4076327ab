import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type GivenSettings, readSettings } from './settings.ts'

function directoryWith(t: TestContext, config: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-settings-'))
  t.after(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'config.json'), config)
  return dir
}

test('without a word it serves on loopback and keeps its data beside it', () => {
  assert.deepEqual(readSettings({}, {}), {
    host: '127.0.0.1',
    port: 7420,
    dataDir: '.punctual',
    store: 'sqlite:.punctual/punctual.db',
    slots: 8,
    isOpen: false,
    allowHosts: [],
    tls: undefined,
  })
})

test('a flag wins over the environment, which wins over the file, which wins over the default', (t) => {
  const data = directoryWith(t, '{"listen":"localhost:1","slots":3,"store":"postgres://a"}')
  const env = { PUNCTUAL_LISTEN: 'localhost:2', PUNCTUAL_SLOTS: '4' }
  const settings = readSettings({ data, listen: '[::1]:5' }, env)
  assert.deepEqual(
    [settings.host, settings.port, settings.slots, settings.store],
    ['::1', 5, 4, 'postgres://a'],
  )
  assert.equal(readSettings({ data, port: '6' }, {}).port, 6)
})

test('a server others can reach answers to the names it has, and to those it is told', () => {
  const { allowHosts } = readSettings({ listen: '0.0.0.0:80', allowHost: ['jobs.example'] }, {})
  assert.ok(allowHosts.includes('jobs.example') && allowHosts.includes('127.0.0.1'))
})

const refused: [why: string, flags: GivenSettings, field: string][] = [
  ['no port', { listen: '127.0.0.1' }, 'listen'],
  ['a port that does not exist', { listen: '127.0.0.1:65536' }, 'port'],
  ['a word for a port', { listen: '127.0.0.1:http' }, 'listen'],
  ['nothing', { listen: '' }, 'listen'],
  ['half a slot', { slots: '0.5' }, 'slots'],
  ['a door that is open to the world', { listen: '0.0.0.0:80', open: true }, 'open'],
  ['a certificate without its key', { tlsCert: 'a.pem' }, 'tls-cert'],
]
for (const [why, flags, field] of refused) {
  test(`${why} is refused`, () => {
    assert.throws(() => readSettings(flags, {}), { code: 'config_invalid', field })
  })
}

for (const [why, config] of [
  ['a setting nobody knows', '{"prot": 1}'],
  ['a file that is not JSON', '{'],
  ['a file that is a list', 'null'],
] as const) {
  test(`${why} is refused`, (t) => {
    const data = directoryWith(t, config)
    assert.throws(() => readSettings({ data }, {}), { code: 'config_invalid' })
  })
}
