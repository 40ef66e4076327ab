import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { queryOnce } from '../support/postgres-query.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'
import { startTcpProxy } from './tcp-proxy.ts'

async function open(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}

test('a commit whose answer is lost is in the database', async (t) => {
  const url = await postgresUrl()
  await queryOnce(url, 'CREATE TABLE kept (n int)')
  const proxy = await startTcpProxy(url)
  t.after(() => proxy.close())
  const client = await open(proxy.url)
  await client.query('INSERT INTO kept VALUES (1)')

  const cut = proxy.cutAfterCommit((what) => what === 'COMMIT')
  await client.query('BEGIN')
  await client.query('INSERT INTO kept VALUES ($1)', [2])
  await assert.rejects(client.query('COMMIT'))
  assert.equal(await cut, 'COMMIT')

  const kept = () => queryOnce(url, 'SELECT n FROM kept ORDER BY n')
  await waitFor(async () => (await kept()).length === 2, { what: 'the commit without an answer' })
})

test('a cut before the commit leaves nothing, and a stalled connection continues where it stopped', async (t) => {
  const url = await postgresUrl()
  await queryOnce(url, 'CREATE TABLE kept (n int)')
  const proxy = await startTcpProxy(url)
  t.after(() => proxy.close())
  const client = await open(proxy.url)
  await client.query('BEGIN')
  await client.query('INSERT INTO kept VALUES (1)')
  proxy.cutAll()
  await assert.rejects(client.query('COMMIT'))

  const other = await open(proxy.url)
  t.after(() => other.end())
  proxy.stall()
  let isAnswered = false
  const answer = other.query('SELECT n FROM kept').finally(() => (isAnswered = true))
  await queryOnce(url, 'SELECT 1')
  assert.equal(isAnswered, false)
  proxy.resume()
  assert.deepEqual((await answer).rows, [])
})
