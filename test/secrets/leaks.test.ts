import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { secretKeyFile } from '../../src/main/data-directory/secret-key-file.ts'
import type { SchedulerOptions } from '../../src/main/scheduler.ts'
import { unpackChunk } from '../../src/server/logs/chunk-pack.ts'
import { createWorker } from '../../src/worker/index.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { queryOnce } from '../support/postgres-query.ts'
import { keysInMemory } from '../support/secret-keys.ts'
import { postgresUrl } from '../support/servers.ts'
import { encodedForms } from '../support/encoded-forms.ts'
import { HANDLERS, SECRET_PRINTING_JOBS } from './secret-printing-jobs.ts'

const VALUES = {
  PASSWORD: 'hunter22-é/+ "q"\\x',
  URL: 'postgres://shop:Zx9%2Fq~!@db.internal/shop?a=1&b=2',
  KEY: `-----BEGIN KEY-----\n${'q7Zt/9+w'.repeat(9)}\nmmmm${'k3J/'.repeat(17)}\n-----END KEY-----\n`,
}
/** Each form of each secret, and of each line of the multi-line one. */
const FORBIDDEN = Object.values(VALUES)
  .flatMap((value) => [value, ...value.trim().split('\n')])
  .flatMap((value) => encodedForms(value))

type Place = readonly [where: string, bytes: Buffer]

/** Forbidden texts that are found, with their place. */
function leaksIn(places: readonly Place[]): string[] {
  return places.flatMap(([where, bytes]) =>
    FORBIDDEN.filter(([, form]) => bytes.includes(form)).map(([how, form]) => {
      const at = bytes.indexOf(form)
      const around = bytes.subarray(Math.max(0, at - 60), at + 20).toString()
      return `${where}, as ${how}: ${JSON.stringify(around)}`
    }),
  )
}

// Workers keep files of their attempts in the temporary directory.
const dir = mkdtempSync(join(tmpdir(), 'punctual-leaks-'))
process.env['TMPDIR'] = dir
after(() => rmSync(dir, { recursive: true, force: true }))

type Environment = Required<Pick<SchedulerOptions, 'store' | 'secretKeys'>> &
  Pick<SchedulerOptions, 'blobs'>

async function runEverything(t: TestContext, options: Environment) {
  const api = await openApi(t, options)
  const shown: Buffer[] = []
  const worker = createWorker({
    client: api.scheduler.clientFor('default'),
    name: 'w',
    slots: 2,
    handlers: HANDLERS,
    processes: { echo: (_assignment, _stream, bytes) => void shown.push(bytes) },
    onError: (error) => void shown.push(Buffer.from(String(error))),
  })
  t.after(() => worker.drain(0))
  await worker.start()
  for (const [name, value] of Object.entries(VALUES)) {
    assert.equal((await api.call('PUT', `/v1/secrets/${name}`, { body: { value } })).status, 201)
  }
  const events = await fetch(`${api.url}/v1/events`, {
    headers: { authorization: `Bearer ${ROOT_TOKEN}` },
  })
  const ids: string[] = []
  for (const body of SECRET_PRINTING_JOBS) {
    const { status, body: answer } = await api.call<{ id: string }>('POST', '/v1/runs', { body })
    assert.equal(status, 201, JSON.stringify(answer))
    ids.push(answer.id)
  }
  for (const id of ids) await ended(api, id)
  const live = await readUntil(events, ids.at(-1) as string)
  return {
    api,
    ids,
    heard: [
      ['console', Buffer.concat(shown)],
      ['events', live],
    ] as Place[],
  }
}

async function ended(api: OpenApi, id: string): Promise<void> {
  for (;;) {
    const { body } = await api.call<{ finished_at: string | null }>(
      'GET',
      `/v1/runs/${id}?wait=60s`,
    )
    if (body.finished_at !== null) return
  }
}

async function readUntil(stream: Response, word: string): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of stream.body as AsyncIterable<Uint8Array>) {
    pieces.push(piece)
    if (Buffer.concat(pieces).includes(word)) break
  }
  return Buffer.concat(pieces)
}

/** Every answer of the API, to a caller with all rights. */
async function answers({ url }: OpenApi, ids: readonly string[]): Promise<Place[]> {
  const paths = [
    '/v1/runs?limit=500',
    '/v1/audit?limit=500',
    '/v1/secrets',
    '/v1/secret-keys',
    '/v1/workers',
    '/v1/queues',
    '/v1/jobs',
    '/metrics',
    ...ids.flatMap((id) =>
      ['', '/attempts', '/why', '/logs?limit=10000', '/logs/raw', '/logs/follow'].map(
        (rest) => `/v1/runs/${id}${rest}`,
      ),
    ),
  ]
  const places: Place[] = []
  for (const path of paths) {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${ROOT_TOKEN}` } })
    assert.ok(answer.ok || path.includes('/logs'), `${path} gave ${answer.status}`)
    places.push([path, Buffer.from(await answer.arrayBuffer())])
  }
  return places
}

function filesBelow(path: string): Place[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => [file, readFileSync(file)])
}

/** Without these traces the test would show nothing. */
function requireTraces(places: readonly Place[], ids: readonly string[]): void {
  const textOf = (path: string) => String(places.find(([where]) => where === path)?.[1])
  assert.equal(textOf(`/v1/runs/${ids[0]}/logs/raw`), '***\n'.repeat(6))
  assert.match(textOf(`/v1/runs/${ids[3]}`), /exited with code 4: no luck with \*\*\*/)
  const log = textOf(`/v1/runs/${ids[7]}/logs/raw`)
  assert.ok((log.match(/\*\*\*/g)?.length ?? 0) >= 60, log)
  assert.match(log, /ValueError: cannot log in with \*\*\*\n/)
  assert.match(textOf(`/v1/runs/${ids[8]}`), /"result":\{"password":"\*\*\*"\}/)
  assert.match(
    textOf(`/v1/runs/${ids[9]}`),
    /the result is not JSON: .+\*\*\*.+ is not valid JSON"/,
  )
  assert.match(textOf(`/v1/runs/${ids[10]}`), /"result":\["\*\*\*"\]/)
  assert.match(textOf(`/v1/runs/${ids[11]}/logs/raw`), /^(\*\*\*\n){1000}/)
  assert.match(textOf(`/v1/runs/${ids[14]}`), /no luck with \*\*\*/)
  const { result } = JSON.parse(textOf(`/v1/runs/${ids[15]}`)) as { result: object }
  assert.deepEqual(result, { all: { PASSWORD: '***', URL: '***', KEY: '***' }, '***': 1 })
  const much = JSON.parse(textOf(`/v1/runs/${ids[16]}`)) as { result: { texts: string[] } }
  assert.equal(much.result.texts.length, 36)
  for (const text of much.result.texts) assert.match(text, /\*\*\*/)
  assert.ok((textOf(`/v1/runs/${ids[16]}/logs/raw`).match(/\*\*\*/g)?.length ?? 0) >= 1500)
}

test('the test would find a secret', () => {
  for (const [how, form] of FORBIDDEN) {
    assert.notDeepEqual(leaksIn([['a log', Buffer.from(`<${form}>`)]]), [], how)
  }
})

test('secrets that were printed, thrown and returned are found nowhere, with SQLite', async (t) => {
  const dataDir = mkdtempSync(join(dir, 'data-'))
  const store = `sqlite:${dataDir}/punctual.db`
  const secretKeys = secretKeyFile({ dataDir, store, secretKey: undefined })
  const blobPlace = { place: 'fs', dataDir } as const
  const { api, ids, heard } = await runEverything(t, { store, secretKeys, blobs: blobPlace })
  const said = await answers(api, ids)
  requireTraces(said, ids)
  assert.equal(statSync(join(dataDir, 'secret-key')).mode & 0o777, 0o600)
  const disk = new Database(join(dataDir, 'punctual.db'), { readonly: true })
  const chunks = disk.prepare<[], { packed: Buffer | null }>('SELECT packed FROM log_chunk').all()
  disk.close()
  const unpacked = chunks.flatMap(({ packed }) => packed ?? []).map(unpackedPlace)
  requireLarge(unpacked)
  const blobs = filesBelow(join(dataDir, 'blobs'))
  requireBlob(blobs)
  const places = [...said, ...heard, ...unpacked, ...filesBelow(dir)]
  assert.ok(places.some(([where]) => where.endsWith('punctual.db-wal')))
  assert.deepEqual(leaksIn(places), [])
})

function unpackedPlace(packed: Buffer, nth: number): Place {
  return [`chunk ${nth}, unpacked`, unpackChunk(packed).body]
}

/** Some of the content was compressed, so a look at the raw database would not have found it. */
function requireLarge(unpacked: readonly Place[]): void {
  assert.ok(unpacked.some(([, bytes]) => bytes.length > 10_000 && bytes.includes('lorem ipsum')))
}

function requireBlob(blobs: readonly Place[]): void {
  assert.ok(blobs.some(([, bytes]) => bytes.includes('lorem ipsum') && bytes.includes('***')))
}

test('nor with PostgreSQL', async (t) => {
  const store = await postgresUrl()
  const { api, ids, heard } = await runEverything(t, { store, secretKeys: keysInMemory('k1') })
  const said = await answers(api, ids)
  requireTraces(said, ids)
  const rows = await queryOnce(
    store,
    `SELECT encode(packed, 'base64') AS packed FROM punctual.log_chunk WHERE packed IS NOT NULL`,
  )
  const unpacked = rows
    .map(({ packed }) => Buffer.from(String(packed), 'base64'))
    .map(unpackedPlace)
  requireLarge(unpacked)
  const blobs = await queryOnce(store, `SELECT encode(bytes, 'base64') AS bytes FROM punctual.blob`)
  const kept = blobs.map(({ bytes }): Place => ['blob', Buffer.from(String(bytes), 'base64')])
  requireBlob(kept)
  const places = [...said, ...heard, ...unpacked, ...kept, ...(await tablesOf(store))]
  assert.deepEqual(leaksIn(places), [])
})

async function tablesOf(url: string): Promise<Place[]> {
  const tables = await queryOnce(
    url,
    `SELECT tablename FROM pg_tables WHERE schemaname = 'punctual' ORDER BY tablename`,
  )
  assert.ok(tables.length > 10)
  const places: Place[] = []
  for (const { tablename } of tables) {
    const rows = await queryOnce(
      url,
      `SELECT row_to_json(t) AS row FROM punctual."${String(tablename)}" t`,
    )
    const texts = rows.map(({ row }) => Object.values(row as object).join('\n'))
    places.push([String(tablename), Buffer.from(texts.join('\n'))])
  }
  return places
}
