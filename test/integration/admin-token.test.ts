import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openScheduler } from '../../src/main/scheduler.ts'
import type { AdminTokenFile } from '../../src/server/identity/installation-token.ts'
import { LONG_TIMEOUTS } from '../support/long-timeouts.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'

/** The token file in the data directory of a node. */
interface Directory {
  token: string
  registered: string | undefined
}

function directory(name: string): Directory {
  return { token: `pun_admin_${name.padEnd(40, '.')}`, registered: undefined }
}

const fileOf = (name: string, data: Directory): AdminTokenFile => ({
  token: data.token,
  place: `host-${name}:/data/admin-token`,
  registered: () => data.registered,
  setRegistered: (digest) => void (data.registered = digest),
})

async function startNode(t: TestContext, store: string, name: string, data: Directory) {
  const scheduler = await openScheduler({
    store,
    config: LONG_TIMEOUTS,
    rootToken: data.token,
    rootTokenFile: fileOf(name, data),
    onError: (error) => t.diagnostic(String(error)),
  })
  let isStopped = false
  const stop = async () => {
    if (!isStopped) await scheduler.stop()
    isStopped = true
  }
  t.after(stop)
  const url = await scheduler.listen({ host: '127.0.0.1', port: 0 })
  const call = async <T>(method: string, path: string, { token }: Directory, body?: object) => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as T }
  }
  const status = async (data: Directory) => (await call('GET', '/v1/runs?limit=1', data)).status
  return { reach: scheduler.adminTokenReach, call, status, stop }
}

interface Listed {
  readonly data: readonly { id: string; name: string; revoked_at: string | null }[]
}

test('nodes on one PostgreSQL accept one admin token, by its digest, until it is replaced or revoked', async (t) => {
  const store = await postgresUrl()
  const [dataA, dataB, dataC] = [directory('a'), directory('b'), directory('c')]
  const a = await startNode(t, store, 'a', dataA)
  const b = await startNode(t, store, 'b', dataB)
  assert.deepEqual(a.reach, { acceptedBy: 'every_node' })
  assert.deepEqual(b.reach, { acceptedBy: 'this_node', holder: 'host-a:/data/admin-token' })
  assert.equal(await b.status(dataA), 200, 'the token of the installation, at the second node')
  assert.equal(await b.status(dataB), 200, 'its own, as before')
  assert.equal(await a.status(dataB), 401)
  assert.equal(dataB.registered, undefined)

  // Every node maps it to the same caller, and none stores it.
  for (const [node, job] of [
    [a, 'one'],
    [b, 'two'],
  ] as const) {
    assert.equal((await node.call('PUT', `/v1/jobs/${job}`, dataA, { run: 'true' })).status, 201)
  }
  const audit = await b.call<{ data: { actor: string }[] }>('GET', '/v1/audit', dataA)
  assert.deepEqual([...new Set(audit.body.data.map(({ actor }) => actor))], ['root'])
  assert.ok(!JSON.stringify(audit).includes(dataA.token))
  const list = async () => (await b.call<Listed>('GET', '/v1/tokens?everywhere=true', dataA)).body
  const [row] = (await list()).data
  assert.equal(row?.name, 'admin-token of host-a:/data/admin-token')

  // A copy of the file lets a node join.
  const c = await startNode(t, store, 'c', { ...dataC, token: dataA.token })
  assert.deepEqual(c.reach, { acceptedBy: 'every_node' })
  await c.stop()

  // A new file in the same directory replaces it: the old token is no longer valid.
  await a.stop()
  const former = { ...dataA }
  dataA.token = directory('another').token
  const again = await startNode(t, store, 'a', dataA)
  assert.deepEqual(again.reach, { acceptedBy: 'every_node' })
  assert.equal(await b.status(dataA), 200)
  await waitFor(async () => (await b.status(former)) === 401, { what: 'the second node to know' })
  assert.equal(await again.status(former), 401)

  // Once revoked, it is invalid even on the node that has the file.
  const current = (await b.call<Listed>('GET', '/v1/tokens?everywhere=true', dataB)).body.data.find(
    ({ revoked_at: revokedAt }) => revokedAt === null,
  )
  const path = `/v1/tokens/${current?.id}`
  assert.equal((await b.call('DELETE', path, dataB)).status, 204)
  await waitFor(async () => (await again.status(dataA)) === 401, { what: 'its own node to know' })
  await again.stop()
  const revoked = await startNode(t, store, 'a', dataA)
  assert.deepEqual(revoked.reach, { acceptedBy: 'none' })
  assert.equal(await revoked.status(dataA), 401)
})

test("a token created by a caller is never treated as the installation's token", async (t) => {
  const store = await postgresUrl()
  const [dataA, dataB] = [directory('a'), directory('b')]
  const a = await startNode(t, store, 'a', dataA)
  const forged = { name: 'admin-token of host-b:/x', role: 'admin', everywhere: true }
  assert.equal((await a.call('POST', '/v1/tokens', dataA, forged)).status, 422)
  // An ordinary token in the token file opens other nodes with its own role.
  const viewer = { name: 'ci', role: 'viewer', everywhere: true }
  const { body } = await a.call<{ token: string }>('POST', '/v1/tokens', dataA, viewer)
  dataB.token = body.token
  const b = await startNode(t, store, 'b', dataB)
  assert.deepEqual(b.reach, { acceptedBy: 'this_node', holder: undefined })
  assert.equal((await b.call('GET', '/v1/tokens', dataB)).status, 200)
  assert.equal((await a.call('GET', '/v1/tokens', dataB)).status, 403)
})

test('a server on a SQLite file keeps its token out of the store', async (t) => {
  const data = directory('a')
  const a = await startNode(t, 'sqlite::memory:', 'a', data)
  assert.equal(a.reach, undefined)
  const { body } = await a.call<Listed>('GET', '/v1/tokens?everywhere=true', data)
  assert.deepEqual(body.data, [])
})
