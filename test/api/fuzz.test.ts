// Valid and invalid requests generated from the API reference, against a real node: it always answers as the
// reference says, and it is still running afterwards.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeeded } from '../sim/seeded.ts'
import { createFixtures } from './fuzz/fixtures.ts'
import { createAnswerChecker, type FuzzAnswer } from './fuzz/answer-checker.ts'
import { createPool, type Pool } from './fuzz/pool.ts'
import { createRequests, type FuzzRequest } from './fuzz/requests.ts'
import { createSender } from './fuzz/send.ts'
import { createSteadyWorker } from './fuzz/steady-worker.ts'
import { openApi, ROOT_TOKEN } from './open-api.ts'
import { type Document, operationsOf } from './openapi-document.ts'

const SEED = Number(process.env.PUNCTUAL_FUZZ_SEED ?? 1)
const CALLS = Number(process.env.PUNCTUAL_FUZZ_CALLS ?? 20_000)
/** Requests generated before the first is sent, so that the seed decides and not the order of answers. */
const AT_ONCE = 32
const MAX_EXTRA = 2_000

test(`${CALLS} requests are answered as the reference says`, async (t) => {
  const api = await openApi(t)
  const { body: document } = await api.call<Document>('GET', '/openapi.json')
  const operations = operationsOf(document)
  const seeded = createSeeded(SEED)
  const pool = createPool(seeded)
  await createFixtures(api, pool)
  const nextRequest = createRequests(document, { seeded, pool, token: ROOT_TOKEN })
  const steady = createSteadyWorker(api, createSeeded(SEED + 1))
  const checkAnswer = createAnswerChecker(document)
  const sender = createSender(api.url, AT_ONCE)
  t.after(() => sender.close())

  const calls = new Map(operations.map(({ operationId }) => [operationId, { all: 0, good: 0 }]))
  const bodies = { all: 0, valid: 0 }
  const codes = new Map<string, number>()
  const count = ({ operation, isBodyValid }: FuzzRequest, { status, text }: FuzzAnswer) => {
    const tally = calls.get(operation.operationId) as { all: number; good: number }
    tally.all += 1
    if (status < 300) tally.good += 1
    else {
      const { code } = JSON.parse(text) as { code: string }
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
    if (isBodyValid !== undefined) bodies.all += 1
    if (isBodyValid) bodies.valid += 1
  }

  const sendAll = async (requests: readonly FuzzRequest[]) => {
    // Other requests delete it; operations on jobs must still find one.
    await api.call('PUT', '/v1/jobs/mail', { body: { task: 'mail' } })
    const sent = requests.map((request) =>
      sender.send(request).catch((error: unknown) => report(request, String(error))),
    )
    const [answers] = await Promise.all([Promise.all(sent), steady.turn()])
    for (const [index, answer] of answers.entries()) {
      const request = requests[index] as FuzzRequest
      const fault = checkAnswer(request, answer)
      if (fault !== undefined) report(request, `${fault}: ${answer.status} ${answer.text}`)
      count(request, answer)
      learn(pool, request, answer)
    }
  }

  for (let made = 0; made < CALLS; made += AT_ONCE) {
    const ofThis = (_: unknown, index: number) =>
      operations[(made + index) % operations.length] as (typeof operations)[number]
    await sendAll(Array.from({ length: AT_ONCE }, ofThis).map(nextRequest))
  }
  // Operations that need very specific input, which chance may have missed.
  for (const operation of operations) {
    const tally = calls.get(operation.operationId) as { good: number }
    for (let more = 0; more < MAX_EXTRA && tally.good === 0; more += AT_ONCE) {
      await sendAll(Array.from({ length: AT_ONCE }, () => nextRequest(operation)))
    }
  }

  t.diagnostic(
    `seed ${SEED}: ${bodies.valid} of ${bodies.all} bodies were valid, ${steady.ended} attempts ended`,
  )
  t.diagnostic(`problems met: ${[...codes].map(([code, met]) => `${code} ${met}`).join(', ')}`)
  for (const [operation, { all, good }] of calls) {
    assert.ok(all >= Math.min(100, Math.floor(CALLS / calls.size)), `${operation}: ${all} calls`)
    assert.ok(good > 0, `seed ${SEED}: ${operation} never answered well`)
  }
  assert.ok(bodies.valid >= bodies.all * 0.3, `${bodies.valid} of ${bodies.all} bodies were valid`)
  assert.ok(steady.ended >= CALLS / 200, `only ${steady.ended} attempts ended`)
  for (const path of ['/livez', '/readyz']) assert.equal((await api.call('GET', path)).status, 200)
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
})

function report({ operation, path, headers, body, broken }: FuzzRequest, fault: string): never {
  const { authorization: _, ...shown } = headers
  const sent = body === undefined ? '' : ` ${body.toString().slice(0, 500)}`
  assert.fail(
    `${fault.slice(0, 500)}\n  to ${operation.method} ${path} ${JSON.stringify(shown)}${sent}\n` +
      `  (spoiled: ${broken}; again with PUNCTUAL_FUZZ_SEED=${SEED} npm test -- api/fuzz)`,
  )
}

/** Remembers objects from an answer for later requests. */
function learn(pool: Pool, { operation, path, body }: FuzzRequest, answer: FuzzAnswer): void {
  const { status, headers, text } = answer
  if (status >= 300 || !String(headers['content-type']).includes('json')) {
    if (status === 204 || status === 404) pool.forget(path.split('/')[3] ?? '')
    return
  }
  const shown = JSON.parse(text) as Record<string, unknown>
  pool.learn(shown, headers)
  if (operation.operationId === 'postWorkers') {
    const { registration } = JSON.parse(String(body)) as { registration: number }
    pool.welcome(
      shown['session'] as string,
      shown['session_secret'] as string | undefined,
      registration,
    )
  }
  if (operation.operationId === 'postWorkersSessionExchange') {
    const session = pool.find(path.split('/')[3] as string)
    for (const { run, fence } of shown.runs as { run: string; fence: number }[]) {
      session?.granted.push({ run, fence, chunks: 0 })
    }
  }
}
