import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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

test('without settings it serves on loopback and keeps its data in the current directory', () => {
  assert.deepEqual(readSettings({}, {}), {
    host: '127.0.0.1',
    port: 7420,
    dataDir: '.punctual',
    store: 'sqlite:.punctual/punctual.db',
    blobs: 'fs',
    inlineBytes: 65_536,
    compatTtlMs: 20_000,
    compatEmpty: '204',
    workerProtocol: 1,
    slots: 8,
    isOpen: false,
    allowHosts: [],
    allowAddresses: [],
    tls: undefined,
    processes: {
      limits: {},
      allowUsers: [],
      runAs: undefined,
      allowRoot: undefined,
      launcher: undefined,
      containment: undefined,
    },
    secretKey: undefined,
    logFormat: 'text',
  })
})

test('flags override the environment, which overrides the file, which overrides the defaults', (t) => {
  const data = directoryWith(t, '{"listen":"localhost:1","slots":3,"store":"postgres://a"}')
  const env = { PUNCTUAL_LISTEN: 'localhost:2', PUNCTUAL_SLOTS: '4' }
  const settings = readSettings({ data, listen: '[::1]:5' }, env)
  assert.deepEqual(
    [settings.host, settings.port, settings.slots, settings.store],
    ['::1', 5, 4, 'postgres://a'],
  )
  assert.equal(readSettings({ data, port: '6' }, {}).port, 6)
})

test('process settings in the file are overridden by flags', (t) => {
  const data = directoryWith(t, '{"limit":["memory=1GiB","pids=9"],"allowUser":["deploy"]}')
  const { processes } = readSettings({ data, limit: ['pids=5'] }, { PUNCTUAL_RUN_AS: 'nobody' })
  assert.deepEqual(processes.limits, { pids: { default: 5, max: 5 } })
  assert.deepEqual([processes.allowUsers, processes.runAs], [['deploy'], 'nobody'])
})

test('an address includes its port: port settings from a weaker source do not apply', (t) => {
  const data = directoryWith(t, '{"port": 1}')
  assert.equal(readSettings({ data, listen: '127.0.0.1:2' }, {}).port, 2)
  assert.equal(readSettings({ data }, { PUNCTUAL_LISTEN: '127.0.0.1:3' }).port, 3)
  assert.equal(readSettings({ data, port: '4' }, { PUNCTUAL_LISTEN: 'localhost:3' }).port, 4)
})

test('a variable has the effect of its flag; an empty one has none', () => {
  const env = {
    PUNCTUAL_DATA: '/d',
    PUNCTUAL_PORT: '',
    PUNCTUAL_OPEN: '1',
    PUNCTUAL_STORE: '',
    PUNCTUAL_SLOTS: '0',
    PUNCTUAL_ALLOW_HOST: 'a,b',
  }
  const { dataDir, port, isOpen, slots, allowHosts, store } = readSettings({}, env)
  assert.deepEqual(
    [dataDir, port, isOpen, slots, allowHosts, store],
    ['/d', 7420, true, 0, ['a', 'b'], 'sqlite:/d/punctual.db'],
  )
  assert.equal(readSettings({}, { PUNCTUAL_OPEN: 'false' }).isOpen, false)
})

test('the default for blobs is files with SQLite, and rows with a shared database', () => {
  const placeOf = (flags: GivenSettings) => readSettings(flags, {}).blobs
  assert.equal(placeOf({ store: 'sqlite:/d/x.db' }), 'fs')
  assert.equal(placeOf({ store: 'sqlite::memory:' }), 'store')
  assert.equal(placeOf({ store: 'postgres://a/b' }), 'store')
  assert.equal(placeOf({ store: 'postgres://a/b', blobs: 'fs' }), 'fs')
  assert.equal(readSettings({ inlineLimit: '1kB' }, {}).inlineBytes, 1_000)
  assert.equal(readSettings({}, { PUNCTUAL_INLINE_LIMIT: '2KiB' }).inlineBytes, 2_048)
  assert.equal(readSettings({}, { PUNCTUAL_PLAIN_TTL: '1m' }).compatTtlMs, 60_000)
  assert.equal(readSettings({}, { PUNCTUAL_PLAIN_EMPTY: 'json' }).compatEmpty, 'json')
})

test('a server that others can reach answers to its own names and to configured ones', () => {
  const { allowHosts } = readSettings({ listen: '0.0.0.0:80', allowHost: ['jobs.example'] }, {})
  assert.ok(allowHosts.includes('jobs.example') && allowHosts.includes('127.0.0.1'))
})

const refused: [why: string, flags: GivenSettings, field: string][] = [
  ['no port', { listen: '127.0.0.1' }, 'listen'],
  ['a port that does not exist', { listen: '127.0.0.1:65536' }, 'port'],
  ['a word for a port', { listen: '127.0.0.1:http' }, 'listen'],
  ['nothing', { listen: '' }, 'listen'],
  ['no text for a port', { port: '' }, 'port'],
  ['a port in another base', { port: '0x50' }, 'port'],
  ['an unknown store', { store: 'mysql://root:secret@db' }, 'store'],
  ['half a slot', { slots: '0.5' }, 'slots'],
  ['a door that is open to the world', { listen: '0.0.0.0:80', open: true }, 'open'],
  ['an unknown place for blobs', { blobs: 's4' }, 'blobs'],
  ['an inline limit beyond what rows hold', { inlineLimit: '65KiB' }, 'inline-limit'],
  ['an inline limit of next to nothing', { inlineLimit: '255B' }, 'inline-limit'],
  ['a silence that is too short', { plainTtl: '100ms' }, 'plain-ttl'],
  ['a silence without end', { plainTtl: '1h' }, 'plain-ttl'],
  ['a silence of no duration', { plainTtl: 'long' }, 'plain-ttl'],
  ['an unknown empty answer', { plainEmpty: 'xml' }, 'plain-empty'],
  ['an inline limit without a unit', { inlineLimit: '1000' }, 'inline-limit'],
  ['a limit that is none', { limit: ['memory=0B'] }, 'limit'],
  ['a certificate without its key', { tlsCert: 'a.pem' }, 'tls-cert'],
  ['an unknown log format', { logFormat: 'xml' }, 'log-format'],
]
for (const [why, flags, field] of refused) {
  test(`${why} is refused`, () => {
    assert.throws(() => readSettings(flags, {}), { code: 'config_invalid', field })
  })
}

test('a variable with a value other than yes or no is refused', () => {
  assert.throws(() => readSettings({}, { PUNCTUAL_OPEN: 'yes' }), { field: 'PUNCTUAL_OPEN' })
})

const refusedFiles: [why: string, config: string, message: RegExp][] = [
  ['a mistyped setting', '{"prot": 1}', /has the setting "prot"; did you mean "port"\?$/],
  ['an unknown setting', '{"colour": 1}', /settings are listen, port, store/],
  ['a file that is not JSON', '{', /config\.json is not JSON: /],
  ['a file that is nothing', 'null', /is not a JSON object/],
  ['a file that is a list', '[]', /is not a JSON object/],
  ['a port that is a text', '{"port": "80"}', /needs a number for "port"/],
  ['a port that is a fraction', '{"port": 80.5}', /port "80\.5" is not a port/],
  ['a store that is a number', '{"store": 1}', /needs a text for "store"/],
  ['a switch that is a text', '{"open": "yes"}', /needs true or false for "open"/],
  ['a name where names belong', '{"allowHost": "a"}', /needs a list of texts for "allowHost"/],
  ['a setting that is null', '{"slots": null}', /needs a number for "slots"/],
]
for (const [why, config, message] of refusedFiles) {
  test(`${why} is refused`, (t) => {
    const data = directoryWith(t, config)
    assert.throws(() => readSettings({ data }, {}), { code: 'config_invalid', message })
  })
}

test('an unreadable file is refused', (t) => {
  const data = directoryWith(t, '{}')
  rmSync(join(data, 'config.json'))
  mkdirSync(join(data, 'config.json'))
  assert.throws(() => readSettings({ data }, {}), {
    message: /config\.json cannot be read: EISDIR/,
  })
})

test('all errors are reported at once, a line each, without passwords', (t) => {
  const data = directoryWith(t, '{"prot": 1, "slots": "many"}')
  const flags = { data, listen: '0.0.0.0:99999', open: true, store: 'mysql://root:secret@db' }
  assert.throws(
    () => readSettings({ ...flags, tlsCert: '/no/such.pem', tlsKey: '/no/key.pem' }, {}),
    ({ message }: Error) => {
      const named = message.split('\n').map((line) => line.split(' ', 1)[0])
      const file = join(data, 'config.json')
      const fields = [file, file, 'port', 'open', 'store', 'tls-cert', 'tls-key']
      assert.deepEqual(named, fields, message)
      return !message.includes('secret')
    },
  )
})
