import assert from 'node:assert/strict'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHome, type PunctualHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

const PAGE_BYTES = 4_096

async function startServer(home: PunctualHome) {
  const flags = ['server', '--port', '0', '--data', home.dataDir, '--log-format', 'json']
  const { child, output } = home.start(flags)
  const url = await waitFor(() => /"url":"([^"]+)"/.exec(output.err)?.[1], { what: 'the server' })
  const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(url + path, { method, headers, ...sent })
    return { status: answer.status, text: await answer.text() }
  }
  const stop = async () => {
    const ended = once(child, 'close')
    child.kill('SIGTERM')
    await ended
  }
  return { call, stop, output }
}

test('pages that are damaged under a live server: no 500, /readyz says why, and so does the log', async (t) => {
  const home = openHome(t)
  const first = await startServer(home)
  const runs = Array.from({ length: 500 }, (_, nth) => ({ job: 'a', input: 'x'.repeat(200) + nth }))
  assert.equal((await first.call('POST', '/v1/runs:batch', { runs })).status, 200)
  // Stopping moves everything from the write-ahead log into the database file.
  await first.stop()
  const { call, output, stop } = await startServer(home)
  assert.equal((await call('GET', '/readyz')).status, 200)

  const path = join(home.dataDir, 'punctual.db')
  const file = openSync(path, 'r+')
  const garbage = Buffer.alloc(PAGE_BYTES, 0xa5)
  for (let at = PAGE_BYTES; at < statSync(path).size; at += PAGE_BYTES) {
    writeSync(file, garbage, 0, PAGE_BYTES, at)
  }
  closeSync(file)

  const found = await waitFor(
    async () => {
      const list = await call('GET', '/v1/runs?limit=500')
      return list.status === 200 ? undefined : list
    },
    { what: 'the damage to be found' },
  )
  assert.equal(found.status, 503, found.text)
  assert.match(found.text, /"store_damaged"/)
  const ready = await call('GET', '/readyz')
  assert.equal(ready.status, 503)
  assert.match(ready.text, /damaged/)
  assert.equal((await call('GET', '/livez')).status, 200)
  assert.equal((await call('POST', '/v1/runs', { job: 'a' })).status, 503)
  assert.match(output.err, /"level":"error"/)
  await stop()
})
