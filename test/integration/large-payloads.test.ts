import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { rm, writeFile, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { WireRun, WireRunPage } from '../../src/core/wire/runs.ts'
import { postgresUrl } from '../support/servers.ts'
import { openApi, type OpenApi } from '../api/open-api.ts'

const KIB = 1024
const MIB = 1024 * KIB
const DATA = 'x'.repeat(700 * KIB)

type Environment = OpenApi & { readonly directory: string }

const PLACES: [where: string, open: (t: TestContext) => Promise<Environment>][] = [
  ['files with SQLite', (t) => openIn(t, 'fs')],
  ['rows of SQLite', (t) => openIn(t, 'store')],
  ['rows of PostgreSQL', async (t) => openIn(t, 'store', await postgresUrl())],
]

async function openIn(t: TestContext, place: 'fs' | 'store', store?: string): Promise<Environment> {
  const directory = mkdtempSync(join(tmpdir(), 'punctual-large-'))
  const api = await openApi(t, {
    store: store ?? `sqlite:${directory}/punctual.db`,
    blobs: { place, dataDir: directory },
  })
  t.after(() => rmSync(directory, { recursive: true }))
  return { ...api, directory }
}

async function submit({ call }: Environment, body: object): Promise<string> {
  const answer = await call<{ id: string }>('POST', '/v1/runs', { body })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.id
}

async function ended({ call }: Environment, id: string): Promise<WireRun> {
  for (;;) {
    const { body, status } = await call<WireRun>('GET', `/v1/runs/${id}?wait=60s`)
    assert.equal(status, 200, JSON.stringify(body))
    if (body.finished_at !== null) return body
  }
}

/** Answers with the digest of its input and two mebibytes of random data. */
const SCRIPT = `
const { createHash, randomBytes } = require('node:crypto')
const fs = require('node:fs')
const sha256 = createHash('sha256').update(fs.readFileSync(process.env.PUNCTUAL_INPUT)).digest('hex')
const noise = randomBytes(${MIB}).toString('hex')
fs.writeFileSync(process.env.PUNCTUAL_OUTPUT, JSON.stringify({ sha256, noise }))
console.log(createHash('sha256').update(noise).digest('hex'))
`
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const digestOf = (value: unknown) => sha256(JSON.stringify(value))

for (const [where, open] of PLACES) {
  test(`an input of 700 KB and a result of 2 MiB arrive unchanged, through ${where}`, async (t) => {
    const environment = await open(t)
    await environment.startWorker()
    const input = { data: DATA }
    const interpreter = [process.execPath]
    const id = await submit(environment, { script: SCRIPT, interpreter, input })
    const run = await ended(environment, id)
    assert.equal(run.state, 'succeeded', run.message ?? '')
    assert.deepEqual(run.input, input)
    const result = run.result as { sha256: string; noise: string }
    assert.equal(result.sha256, digestOf(input))
    assert.equal(result.noise.length, 2 * MIB)
    assert.equal(run.input_bytes, JSON.stringify(input).length)
    assert.equal(run.result_bytes, JSON.stringify(result).length)
    const log = await environment.call<string>('GET', `/v1/runs/${id}/logs/raw`)
    assert.equal(log.body.trim(), sha256(result.noise))

    const list = await environment.call<WireRunPage>('GET', '/v1/runs')
    const [listed] = list.body.data
    assert.equal(listed?.input, null)
    assert.equal(listed?.result, null)
    assert.equal(listed?.input_bytes, run.input_bytes)
    assert.equal(listed?.result_bytes, run.result_bytes)
    assert.ok(JSON.stringify(list.body).length < 4 * KIB, 'a list stays light')

    const again = await environment.call<{ id: string }>('POST', `/v1/runs/${id}/retry`)
    const repeated = await ended(environment, again.body.id)
    assert.equal((repeated.result as { sha256: string }).sha256, digestOf(input))
    assert.deepEqual(repeated.input, input)
  })
}

test('texts of any size around the limit come back unchanged', async (t) => {
  const environment = await openIn(t, 'fs')
  const texts = [
    ...[0, 1, 64 * KIB - 3, 64 * KIB - 2, 64 * KIB - 1, 8 * MIB - 2].map((size) =>
      'y'.repeat(size),
    ),
    ...[20 * KIB, 40 * KIB, 200 * KIB].map((size) => 'é"\u0001'.repeat(size)),
  ]
  for (const input of texts) {
    const id = await submit(environment, { job: 'sizes', input })
    const { body } = await environment.call<WireRun>('GET', `/v1/runs/${id}`)
    assert.equal(body.input, input)
    const bytes = Buffer.byteLength(JSON.stringify(input))
    assert.equal(body.input_bytes, bytes > 64 * KIB ? bytes : null)
  }
  const over = await environment.call('POST', '/v1/runs', {
    body: { job: 'sizes', input: 'y'.repeat(8 * MIB - 1) },
  })
  assert.equal(over.status, 422)
  assert.equal(over.body['code'], 'invalid_field')
})

test('a batch may mix large and small; an idempotency key recognises the same large input', async (t) => {
  const environment = await openIn(t, 'fs')
  const runs = [
    { job: 'a', input: 1 },
    { job: 'a', input: randomBytes(100 * KIB).toString('hex'), idempotency_key: 'k' },
    { job: 'a', input: randomBytes(50 * KIB).toString('hex') },
  ]
  const send = async (batch: object[]) =>
    (
      await environment.call<{
        runs: { id: string; created: boolean; error?: { code: string } }[]
      }>('POST', '/v1/runs:batch', { body: { runs: batch } })
    ).body.runs
  const first = await send(runs)
  for (const [index, { id }] of first.entries()) {
    const { body } = await environment.call<WireRun>('GET', `/v1/runs/${id}`)
    assert.deepEqual(body.input, runs[index]?.input)
  }
  const [again] = await send([runs[1] as object])
  assert.deepEqual(again, { id: first[1]?.id, created: false })
  const [other] = await send([{ ...runs[1], input: randomBytes(100 * KIB).toString('hex') }])
  assert.equal(other?.error?.code, 'idempotency_mismatch')
})

function blobFiles(directory: string): string[] {
  const all = readdirSync(join(directory, 'blobs'), { recursive: true, withFileTypes: true })
  return all.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

for (const [what, damage, says] of [
  ['is gone', (path: string) => rm(path), /is not in /],
  [
    'was changed',
    async (path: string) => writeFile(path, (await readFile(path)).fill(7, 9, 10)),
    /not what was written/,
  ],
] as const) {
  test(`a run whose input ${what} fails with that reason, and others continue`, async (t) => {
    const environment = await openIn(t, 'fs')
    const id = await submit(environment, {
      run: 'cat "$PUNCTUAL_INPUT"',
      input: DATA,
      retry: { max: 5 },
    })
    const [path] = blobFiles(environment.directory)
    await damage(path as string)
    await environment.startWorker()
    const fine = await submit(environment, { run: 'true', input: 'small' })
    assert.equal((await ended(environment, fine)).state, 'succeeded')
    await environment.call('GET', `/v1/runs/${id}?wait=60s`)
    const { body } = await environment.call<WireRunPage>('GET', '/v1/runs?q=state:failed')
    const [failed] = body.data
    assert.equal(failed?.id, id)
    assert.equal(failed?.cause, 'start_error')
    assert.equal(failed?.attempt, 1)
    assert.match(failed?.message ?? '', says)
    assert.match(failed?.message ?? '', new RegExp(`${id}-input-`))
    const shown = await environment.call('GET', `/v1/runs/${id}`)
    assert.equal(shown.status, 500)
    assert.equal(shown.body['code'], 'blob_unreadable')
    const again = await environment.call('POST', `/v1/runs/${id}/retry`)
    assert.equal(again.body['code'], 'blob_unreadable')
  })
}
