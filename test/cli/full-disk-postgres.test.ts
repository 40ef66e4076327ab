import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startPostgres } from '../support/postgres-server.ts'
import { openHome } from '../support/punctual-home.ts'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { unprivilegedOwner } from '../support/unprivileged.ts'
import { waitFor } from '../support/wait-for.ts'

interface Answer {
  readonly id?: string
  readonly code?: string
  readonly detail?: string
  readonly ready?: boolean
  readonly reason?: string
}

/** Small enough that the write-ahead log needs no new file: PostgreSQL itself stops if it cannot create one. */
const INPUT_BYTES = 32_768

/** PostgreSQL on its own disk; skips the test where none can be mounted. */
async function openDatabase(t: TestContext) {
  let disk: SmallDisk | undefined
  const server = await startPostgres({
    prepareDataDir(dataDir) {
      disk = mountSmallDisk(t, dataDir, '160m', unprivilegedOwner())
    },
  })
  return { server, disk }
}

test('PostgreSQL on a full disk: 507 at once, /readyz says so, and it recovers by itself', async (t) => {
  const { server, disk } = await openDatabase(t)
  const home = openHome(t)
  home.atEnd(async () => {
    disk?.unmount()
    await server.stop('immediate')
  })
  if (!disk) return
  const url = await home.up('--slots', '0', '--store', await server.createDatabase())
  const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
  const call = async (method: string, path: string, body?: object) => {
    const type = body && { 'content-type': 'application/json' }
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...type },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  const acknowledged: string[] = []
  const submit = async () => {
    // Compressed, it would fit into the remaining space.
    const text = randomBytes(INPUT_BYTES / 2).toString('hex')
    const answer = await call('POST', '/v1/runs', { job: 'a', input: { text } })
    if (answer.status === 201) acknowledged.push(answer.body.id as string)
    return answer
  }
  assert.equal((await submit()).status, 201)

  disk.fill()
  const refused = await waitFor(
    async () => {
      const answer = await submit()
      return answer.status === 201 ? undefined : answer
    },
    { what: 'the disk to be full' },
  )
  assert.deepEqual([refused.status, refused.body.code], [507, 'storage_full'])
  assert.match(refused.body.detail ?? '', /the disk is full: .*No space left on device/)
  const ready = await call('GET', '/readyz')
  assert.equal(ready.status, 503)
  assert.match(ready.body.reason ?? '', /the disk is full/)
  assert.equal((await call('GET', '/livez')).status, 200)
  // Acknowledged runs can be read meanwhile.
  assert.equal((await call('GET', `/v1/runs/${acknowledged[0]}`)).status, 200)

  disk.free()
  await waitFor(async () => (await submit()).status === 201, { what: 'room to be used' })
  const isReady = async () => (await call('GET', '/readyz')).body.ready
  await waitFor(isReady, { what: 'the server to be ready' })
  for (const id of acknowledged) {
    assert.equal((await call('GET', `/v1/runs/${id}`)).status, 200, id)
  }
})
