import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHome } from '../support/punctual-home.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { waitFor } from '../support/wait-for.ts'

interface Answer {
  readonly id?: string
  readonly code?: string
  readonly detail?: string
  readonly ready?: boolean
  readonly reason?: string
}

test('a full disk: 507 with path and free space, /readyz and doctor say so, and it recovers by itself', async (t) => {
  const home = openHome(t)
  mkdirSync(home.dataDir)
  const disk = mountSmallDisk(t, home.dataDir, '8m')
  if (!disk) return
  home.atEnd(() => disk.unmount())
  const url = await home.up('--slots', '0')
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
  const submit = (bytes = 8_192) =>
    call('POST', '/v1/runs', { job: 'a', input: { text: 'x'.repeat(bytes) } })
  const first = await submit()
  assert.equal(first.status, 201)

  disk.fill()
  // The database's log may have some space that it allocated before.
  const refused = await waitFor(
    async () => {
      const answer = await submit()
      return answer.status === 201 ? undefined : answer
    },
    { what: 'the disk to be full' },
  )
  assert.deepEqual([refused.status, refused.body.code], [507, 'storage_full'])
  assert.match(refused.body.detail ?? '', /the disk is full: .*punctual\.db has \d+ bytes free/)
  const cancel = await call('POST', `/v1/runs/${first.body.id}/cancel`)
  assert.deepEqual([cancel.status, cancel.body.code], [507, 'storage_full'])
  const ready = await call('GET', '/readyz')
  assert.equal(ready.status, 503)
  assert.match(ready.body.reason ?? '', /the disk is full/)
  const doctor = await home.run(['doctor'])
  assert.equal(doctor.code, 1)
  assert.match(doctor.out, /not ready: the disk is full/)
  assert.match(doctor.out.replaceAll(/\s+/g, ' '), /the database cannot be written: .*bytes free/)
  assert.match(
    await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text(),
    /punctual_store_failure\{kind="full"\} 1/,
  )
  assert.equal((await call('GET', '/livez')).status, 200)
  const other = await home.run(['server', '--port', '0', '--data', join(home.dataDir, 'other')])
  assert.match(
    other.err.replaceAll(/\s+/g, ' '),
    /the disk is full: \S*other\S* has \d+ bytes free/,
  )
  assert.match(other.err, /code:  storage_full/)
  const left = readdirSync(join(home.dataDir, 'other')).filter(
    (name) => !name.startsWith('punctual'),
  )
  assert.deepEqual(left, [], 'no half-written token or key is left')

  disk.free()
  await waitFor(async () => (await submit()).status === 201, { what: 'room to be used' })
  const isReady = async () => (await call('GET', '/readyz')).body.ready
  await waitFor(isReady, { what: 'the server to be ready' })
  assert.equal((await call('GET', `/v1/runs/${first.body.id}`)).status, 200)
  assert.equal(
    (await home.run(['server', '--port', 'x', '--data', join(home.dataDir, 'other')])).code,
    78,
  )
})

test('a killed server says on a full disk why it cannot start, and starts once there is space', async (t) => {
  const home = openHome(t)
  mkdirSync(home.dataDir)
  const disk = mountSmallDisk(t, home.dataDir, '8m')
  if (!disk) return
  home.atEnd(() => disk.unmount())
  const flags = ['server', '--port', '0', '--data', home.dataDir]
  const start = async () => {
    const started = home.start(flags)
    const url = await waitFor(
      () => {
        if (started.child.exitCode !== null) throw new Error(started.output.err)
        return /address +(\S+)/.exec(started.output.out)?.[1]
      },
      { what: 'the server', deadlineMs: 60_000 },
    )
    const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    return { ...started, url, headers }
  }
  const first = await start()
  const acknowledged: string[] = []
  for (let number = 0; number < 20; number += 1) {
    const body = JSON.stringify({ job: 'a', input: { number } })
    const answer = await fetch(`${first.url}/v1/runs`, {
      method: 'POST',
      headers: first.headers,
      body,
    })
    assert.equal(answer.status, 201)
    acknowledged.push(((await answer.json()) as { id: string }).id)
  }
  disk.fill()
  first.child.kill('SIGKILL')
  await first.ended

  const refused = await home.run(flags)
  assert.notEqual(refused.code, 0)
  const said = refused.err.replaceAll(/\s+/g, ' ')
  assert.match(said, new RegExp(`the disk is full: \\S*${home.dataDir}\\S* has \\d+ bytes free`))
  assert.match(refused.err, /code: {2}storage_full/)

  disk.free()
  const second = await start()
  for (const id of acknowledged) {
    const answer = await fetch(`${second.url}/v1/runs/${id}`, { headers: second.headers })
    assert.equal(answer.status, 200, id)
  }
})
