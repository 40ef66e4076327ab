import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { type OpenApi, openApi } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'

const MIB = 1024 * 1024

interface SmallDisk {
  readonly api: OpenApi
  fill(): void
  free(): void
}

/** A server with four mebibytes of space for blobs; undefined where that cannot be mounted. */
async function openOnSmallDisk(t: TestContext): Promise<SmallDisk | undefined> {
  const dataDir = mkdtempSync(join(tmpdir(), 'punctual-full-'))
  const blobs = join(dataDir, 'blobs')
  mkdirSync(blobs)
  const clear = () => {
    spawnSync('umount', ['-l', blobs])
    rmSync(dataDir, { recursive: true })
  }
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', blobs])
  if (status !== 0) {
    clear()
    t.skip('needs root, to mount a small file system')
    return undefined
  }
  const store = `sqlite:${dataDir}/punctual.db`
  const api = await openApi(t, { store, blobs: { place: 'fs', dataDir } })
  t.after(clear)
  const filler = join(blobs, 'filler')
  const fill = () => {
    try {
      writeFileSync(filler, Buffer.alloc(8 * MIB))
    } catch {
      // As much as fitted.
    }
  }
  return { api, fill, free: () => rmSync(filler) }
}

test('a full disk refuses runs that do not fit, loses nothing, and recovers by itself', async (t) => {
  const disk = await openOnSmallDisk(t)
  if (!disk) return
  const { api, fill, free } = disk
  const submit = (input: string) =>
    api.call<{ id: string; code: string; detail: string }>('POST', '/v1/runs', {
      body: { job: 'a', input },
    })
  const large = 'x'.repeat(MIB)

  const before = await submit(large)
  assert.equal(before.status, 201)
  fill()
  const refused = await submit(large)
  assert.deepEqual([refused.status, refused.body.code], [507, 'storage_full'])
  assert.match(
    refused.body.detail,
    /^no room for the input: the disk is full: \/\S+\/blobs has \d+ bytes free$/,
  )
  const batch = await api.call<{ runs: { id?: string; error?: { code: string } }[] }>(
    'POST',
    '/v1/runs:batch',
    { body: { runs: [{ job: 'a', input: large }, { job: 'a' }] } },
  )
  assert.equal(batch.body.runs[0]?.error?.code, 'storage_full')
  assert.ok(batch.body.runs[1]?.id, 'what needs no room is stored')
  const list = await api.call<{ data: unknown[] }>('GET', '/v1/runs')
  assert.equal(list.body.data.length, 2, 'what was refused is not there')
  const storage = await api.call<{ blobs: { writable: boolean } }>('GET', '/v1/storage')
  assert.equal(storage.body.blobs.writable, false)

  free()
  assert.equal((await submit(large)).status, 201)
  const run = await api.call<WireRun>('GET', `/v1/runs/${before.body.id}`)
  assert.equal(run.body.input, large)
})

test('a result that does not fit on the disk is kept by its worker and stored once there is space', async (t) => {
  const disk = await openOnSmallDisk(t)
  if (!disk) return
  const { api, fill, free } = disk
  const refusals: string[] = []
  fill()
  await api.startWorker({ onError: (error) => refusals.push(String(error)) })
  const script = `head -c ${MIB} /dev/zero | tr '\\0' 7 > "$PUNCTUAL_OUTPUT"`
  const submitted = await api.call<{ id: string }>('POST', '/v1/runs', { body: { run: script } })
  const show = async () => (await api.call<WireRun>('GET', `/v1/runs/${submitted.body.id}`)).body
  await waitFor(() => refusals.some((text) => text.includes('no room')), { what: 'a refusal' })
  assert.equal((await show()).state, 'running')
  free()
  const isOver = async () => (await show()).state !== 'running'
  await waitFor(isOver, { what: 'the end', deadlineMs: 60_000 })
  const run = await show()
  assert.equal(run.state, 'succeeded')
  assert.equal(run.result_bytes, MIB)
})
