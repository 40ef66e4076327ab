import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { Held } from '../../core/wire/protocol.ts'
import { openLifelineFile, readLifeline } from '../launcher/lifeline.ts'
import { findOf } from '../launcher/process-tree.ts'
import { machineMonoNs } from '../clock/system-clock.ts'
import { startPacemaker } from './heartbeat-thread.ts'

const BEAT_MS = 40
const SPAN_MS = 60_000

/** A server that hears heartbeats, and a pacemaker for a worker that says only what the test says. */
async function setUp(t: TestContext, { patienceMs = 60_000 } = {}) {
  const heard: string[] = []
  const answer = { status: 200, body: { lost: [] as string[], cancels: [] } }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => (body += piece.toString()))
    request.on('end', () => {
      heard.push(`${request.headers.authorization} ${request.url} ${body}`)
      response.writeHead(answer.status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer.body))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const lifeline = openLifelineFile()
  const pacemaker = startPacemaker({ lifeline: lifeline.fd, patienceMs, onError: assert.fail })
  t.after(() => {
    pacemaker.close()
    lifeline.close()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const note = ({ held = [] as Held[], body = 'words', heartbeatMs = BEAT_MS } = {}) => {
    const headers = { authorization: 'Bearer t' }
    const post = { urls: [`http://127.0.0.1:${port}/beat`], headers, body }
    pacemaker.note({ post, held, heartbeatMs, spanMs: SPAN_MS })
  }
  return { pacemaker, heard, answer, note, lifeline }
}

test('when the worker falls silent, its last words are repeated and keep the lease', async (t) => {
  const { pacemaker, heard, note, lifeline } = await setUp(t)
  pacemaker.renew(10_000)
  note()
  await waitFor(() => heard.length >= 3, { what: 'three beats' })
  assert.equal(heard[0], 'Bearer t /beat words')
  assert.ok(pacemaker.leftMs() > 10_000, 'the lease was moved on')
  assert.ok(readLifeline(lifeline.fd) > machineMonoNs(), 'and so were its processes')
})

test('a worker that beats by itself is not disturbed, nor one that was told to rest', async (t) => {
  const { pacemaker, heard, note } = await setUp(t)
  pacemaker.renew(10_000)
  for (let beats = 0; beats < 20; beats += 1) note({ body: 'regular', heartbeatMs: 10_000 })
  note({ body: 'rested' })
  pacemaker.rest()
  note({ body: 'silent' })
  await waitFor(() => heard.length >= 2, { what: 'beats for the one that fell silent' })
  assert.deepEqual([...new Set(heard)], ['Bearer t /beat silent'])
})

test('a lease that ran out is not taken up again', async (t) => {
  const { pacemaker, heard, note } = await setUp(t)
  note()
  pacemaker.renew(10_000)
  await waitFor(() => heard.length >= 1, { what: 'a beat while the lease is kept' })
  const other = await setUp(t)
  other.note()
  const beats = heard.length
  await waitFor(() => heard.length > beats + 3, { what: 'time enough for several beats' })
  assert.deepEqual(other.heard, [])
  assert.ok(other.pacemaker.leftMs() < 0)
})

test('a refusal ends it; a failure does not', async (t) => {
  const failing = await setUp(t)
  failing.answer.status = 503
  failing.pacemaker.renew(10_000)
  failing.note()
  await waitFor(() => failing.heard.length >= 2, { what: 'another try' })
  failing.answer.status = 410
  const refused = failing.heard.length
  const clock = await setUp(t)
  clock.pacemaker.renew(10_000)
  clock.note()
  await waitFor(() => clock.heard.length >= 6, { what: 'time enough for several beats' })
  assert.ok(failing.heard.length <= refused + 2, 'one that was under way, and the refused one')
})

test('somebody who says nothing for very long is not kept alive', async (t) => {
  const { pacemaker, heard, note } = await setUp(t, { patienceMs: BEAT_MS * 2 })
  pacemaker.renew(10_000)
  note()
  const clock = await setUp(t)
  clock.pacemaker.renew(10_000)
  clock.note()
  await waitFor(() => clock.heard.length >= 8, { what: 'time enough for several beats' })
  assert.ok(heard.length <= 2, `${heard.length} beats`)
})

test('processes of attempts that the server says are lost are killed', async (t) => {
  const { pacemaker, answer, note } = await setUp(t)
  const mark = { run: `run_pace_${process.pid}`, fence: '7' }
  const env = { PATH: process.env['PATH'], PUNCTUAL_RUN_ID: mark.run, PUNCTUAL_FENCE: mark.fence }
  const child = spawn('sleep', ['1000'], { env, stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  await waitFor(() => findOf(mark).length === 1, { what: 'the process to be there' })
  answer.body.lost.push(mark.run)
  pacemaker.renew(10_000)
  note({ held: [{ run: mark.run, fence: 7 }] })
  await waitFor(() => findOf(mark).length === 0, { what: 'the process to be gone' })
})
