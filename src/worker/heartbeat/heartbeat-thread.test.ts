import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { LeasedAttempt } from '../../core/wire/protocol.ts'
import { openLifelineFile, readLifeline } from '../launcher/lifeline.ts'
import { findAttemptProcesses } from '../launcher/process-tree.ts'
import { machineMonoNs } from '../clock/system-clock.ts'
import { startHeartbeatThread } from './heartbeat-thread.ts'

const BEAT_MS = 40
const SPAN_MS = 60_000

/** A server that records heartbeats, and a heartbeat thread for a worker controlled by the test. */
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
  const heartbeatThread = startHeartbeatThread({
    lifeline: lifeline.fd,
    patienceMs,
    onError: assert.fail,
  })
  t.after(() => {
    heartbeatThread.close()
    lifeline.close()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const note = ({ held = [] as LeasedAttempt[], body = 'words', heartbeatMs = BEAT_MS } = {}) => {
    const headers = { authorization: 'Bearer t' }
    const post = { urls: [`http://127.0.0.1:${port}/beat`], headers, body }
    heartbeatThread.remember({ post, held, heartbeatMs, spanMs: SPAN_MS })
  }
  return { heartbeatThread, heard, answer, note, lifeline }
}

test('when the worker falls silent, its last heartbeat is repeated and renews the lease', async (t) => {
  const { heartbeatThread, heard, note, lifeline } = await setUp(t)
  heartbeatThread.renew(10_000)
  note()
  await waitFor(() => heard.length >= 3, { what: 'three beats' })
  assert.equal(heard[0], 'Bearer t /beat words')
  assert.ok(heartbeatThread.leftMs() > 10_000, 'the lease was moved on')
  assert.ok(readLifeline(lifeline.fd) > machineMonoNs(), 'and so were its processes')
})

test('the thread sends nothing for a worker that sends heartbeats itself, nor while paused', async (t) => {
  const { heartbeatThread, heard, note } = await setUp(t)
  heartbeatThread.renew(10_000)
  for (let beats = 0; beats < 20; beats += 1) note({ body: 'regular', heartbeatMs: 10_000 })
  note({ body: 'rested' })
  heartbeatThread.pause()
  note({ body: 'silent' })
  await waitFor(() => heard.length >= 2, { what: 'beats for the one that fell silent' })
  assert.deepEqual([...new Set(heard)], ['Bearer t /beat silent'])
})

test('an expired lease is not renewed', async (t) => {
  const { heartbeatThread, heard, note } = await setUp(t)
  note()
  heartbeatThread.renew(10_000)
  await waitFor(() => heard.length >= 1, { what: 'a beat while the lease is kept' })
  const other = await setUp(t)
  other.note()
  const beats = heard.length
  await waitFor(() => heard.length > beats + 3, { what: 'time enough for several beats' })
  assert.deepEqual(other.heard, [])
  assert.ok(other.heartbeatThread.leftMs() < 0)
})

test('a refusal ends the heartbeats; a failure does not', async (t) => {
  const failing = await setUp(t)
  failing.answer.status = 503
  failing.heartbeatThread.renew(10_000)
  failing.note()
  await waitFor(() => failing.heard.length >= 2, { what: 'another try' })
  failing.answer.status = 410
  const refused = failing.heard.length
  const clock = await setUp(t)
  clock.heartbeatThread.renew(10_000)
  clock.note()
  await waitFor(() => clock.heard.length >= 6, { what: 'time enough for several beats' })
  assert.ok(failing.heard.length <= refused + 2, 'one that was under way, and the refused one')
})

test('a worker that is silent for very long is not kept alive', async (t) => {
  const { heartbeatThread, heard, note } = await setUp(t, { patienceMs: BEAT_MS * 2 })
  heartbeatThread.renew(10_000)
  note()
  const clock = await setUp(t)
  clock.heartbeatThread.renew(10_000)
  clock.note()
  await waitFor(() => clock.heard.length >= 8, { what: 'time enough for several beats' })
  assert.ok(heard.length <= 2, `${heard.length} beats`)
})

test('processes of attempts that the server calls lost are killed', async (t) => {
  const { heartbeatThread, answer, note } = await setUp(t)
  const mark = { run: `run_pace_${process.pid}`, fence: '7' }
  const env = { PATH: process.env['PATH'], PUNCTUAL_RUN_ID: mark.run, PUNCTUAL_FENCE: mark.fence }
  const child = spawn('sleep', ['1000'], { env, stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  await waitFor(() => findAttemptProcesses(mark).length === 1, { what: 'the process to be there' })
  answer.body.lost.push(mark.run)
  heartbeatThread.renew(10_000)
  note({ held: [{ run: mark.run, fence: 7 }] })
  await waitFor(() => findAttemptProcesses(mark).length === 0, { what: 'the process to be gone' })
})
