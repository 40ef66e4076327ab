import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHome } from '../support/punctual-home.ts'
import { startKillableServer } from '../support/killable-server.ts'
import { waitFor } from '../support/wait-for.ts'

interface Answer {
  readonly id: string
  readonly code: string
  readonly reason: string
}

test('a deleted write-ahead log: no acknowledgement, /readyz says why, and a restart loses nothing', async (t) => {
  const home = openHome(t)
  const flags = ['server', '--port', '0', '--data', home.dataDir, '--log-format', 'json']
  const { child, output } = home.start(flags)
  const url = await waitFor(() => /"url":"([^"]+)"/.exec(output.err)?.[1], { what: 'the server' })
  const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
  const call = async (method: string, path: string, body?: object) => {
    const type = body && { 'content-type': 'application/json' }
    const headers = { authorization: `Bearer ${token}`, ...type }
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  const submit = () => call('POST', '/v1/runs', { job: 'a' })
  const first = await submit()
  assert.equal(first.status, 201)

  rmSync(join(home.dataDir, 'punctual.db-wal'))
  const refused = await submit()
  assert.deepEqual([refused.status, refused.body.code], [503, 'store_replaced'])
  const reading = await call('GET', `/v1/runs/${first.body.id}`)
  assert.deepEqual([reading.status, reading.body.code], [503, 'store_replaced'])
  const ready = await call('GET', '/readyz')
  assert.equal(ready.status, 503)
  assert.match(ready.body.reason, /deleted or replaced/)
  assert.equal((await call('GET', '/livez')).status, 200)
  assert.match(output.err, /"level":"error","msg":"the store stopped for good/)
  const page = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  assert.match(await page.text(), /punctual_store_failure\{kind="replaced"\} 1/)

  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await ended
  const again = await startKillableServer(home, '--slots', '0')
  await again.call('GET', `/v1/runs/${first.body.id}`)
})
