import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { ERRORS } from '../../core/errors.ts'
import { scanJson } from '../json/json-scan.ts'
import { createTestApi, SESSION, TEST_TOKEN } from './testing/fake-scheduler.ts'

const api = createTestApi()
after(() => api.close())

const URLS = [
  '/v1/runs',
  '/v1/runs:batch',
  '/v1/workers',
  `/v1/workers/${SESSION}/exchange`,
  `/v1/workers/${SESSION}/heartbeat`,
  `/v1/workers/${SESSION}/leave`,
]
const headers = { authorization: `Bearer ${TEST_TOKEN}`, 'content-type': 'application/json' }

async function isAnsweredWell(url: string, payload: string | Buffer): Promise<void> {
  const reply = await api.inject({ method: 'POST', url, headers, payload })
  if (reply.statusCode < 300) return
  assert.ok(reply.statusCode < 500, reply.body)
  assert.match(String(reply.headers['content-type']), /^application\/problem\+json/)
  assert.ok(reply.json<{ code: string }>().code in ERRORS)
}

const anyUrl = fc.constantFrom(...URLS)
const anything = fc.jsonValue({ maxDepth: 4, noUnicodeString: false })
const known = ['job', 'input', 'queue', 'priority', 'run_at', 'labels', 'retry', 'tags', 'timeout']
const nearlySubmission = fc.dictionary(fc.constantFrom(...known, 'extra'), anything)

test('whatever bytes arrive, the answer is a problem and never a failure', async () => {
  await fc.assert(
    fc.asyncProperty(anyUrl, fc.uint8Array({ maxLength: 200 }), (url, bytes) =>
      isAnsweredWell(url, Buffer.from(bytes)),
    ),
    { numRuns: 300 },
  )
})

test('whatever JSON arrives, the answer is a problem and never a failure', async () => {
  await fc.assert(
    fc.asyncProperty(anyUrl, anything, (url, value) => isAnsweredWell(url, JSON.stringify(value))),
    { numRuns: 300 },
  )
})

test('whatever looks like a submission, the answer is a run or a problem', async () => {
  await fc.assert(
    fc.asyncProperty(nearlySubmission, async (run) => {
      await isAnsweredWell('/v1/runs', JSON.stringify({ job: 'a', ...run }))
      await isAnsweredWell(
        '/v1/runs:batch',
        JSON.stringify({ runs: [{ job: 'a' }, { job: 'a', ...run }] }),
      )
    }),
    { numRuns: 300 },
  )
})

test('wherever a body is cut off, the answer is a problem and never a failure', async () => {
  const whole = JSON.stringify({ job: 'a', input: { 'k\u0000': ['\ud83d\ude00', 1.5e3, null] } })
  for (let end = 0; end <= whole.length; end += 1)
    await isAnsweredWell('/v1/runs', whole.slice(0, end))
})

test('JSON written by a program is never refused for its keys, unless they are forbidden', () => {
  const ordinary = fc
    .string({ unit: 'binary' })
    .filter((key) => !/^(__proto__|constructor|prototype)$/.test(key))
  fc.assert(
    fc.property(
      fc.dictionary(ordinary, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 60 }),
      (value) => {
        const text = JSON.stringify(
          Object.fromEntries(Object.entries(value).filter(([, v]) => isOrdinary(v))),
        )
        assert.equal(scanJson(Buffer.from(text)).refused, undefined, text)
      },
    ),
    { numRuns: 300 },
  )
})

function isOrdinary(value: unknown): boolean {
  return !/"(__proto__|constructor|prototype)"/.test(JSON.stringify(value))
}

test('a repeated key is found anywhere among others', () => {
  const keys = fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 12 }), {
    minLength: 1,
    maxLength: 40,
  })
  fc.assert(
    fc.property(keys, fc.nat(), fc.nat(), (names, from, to) => {
      const again = names[from % names.length] as string
      const repeated = names.toSpliced(to % (names.length + 1), 0, again)
      const text = `{${repeated.map((name) => `${JSON.stringify(name)}:1`).join(',')}}`
      assert.notEqual(scanJson(Buffer.from(text)).refused, undefined, text)
    }),
    { numRuns: 300 },
  )
})
