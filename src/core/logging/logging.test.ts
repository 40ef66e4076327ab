import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PunctualError } from '../errors.ts'
import { describeError } from './describe-error.ts'
import { formatJson, formatText } from './format-record.ts'

const time = Date.UTC(2026, 0, 31, 9)

function caught(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

const SECRET = 'hunter22'

const LEAKS: [what: string, error: unknown][] = [
  ['a value that is not JSON', caught(() => JSON.parse(`{"a": ${SECRET}}`))],
  ['a value in quotes that is not JSON', caught(() => JSON.parse(`"${SECRET}" "x"`))],
  [
    'a value that PostgreSQL refused',
    Object.assign(new Error(`invalid input syntax for type json: "${SECRET} "x""`), {
      code: '22P02',
      detail: `Token "${SECRET}" is invalid.`,
      parameters: [SECRET],
    }),
  ],
  [
    'a value of PostgreSQL inside another error',
    new Error(`it failed: value "${SECRET}"`, {
      cause: Object.assign(new Error(`Key (name)=(${SECRET}) already exists.`), { code: '23505' }),
    }),
  ],
  ['the password of a URL', new Error(`cannot reach postgres://punctual:${SECRET}@db:5432/x`)],
  ['a header', new Error(`authorization: Bearer ${SECRET}.${SECRET}`)],
  ['a token', new Error(`unknown token pun_admin_${SECRET}${SECRET}`)],
  ['a thrown text', `postgres://u:${SECRET}@db`],
]
for (const [what, error] of LEAKS) {
  test(`a log line does not contain ${what}`, () => {
    const record = { time, level: 'error', message: 'it failed', fields: { error } } as const
    for (const line of [formatJson(record), formatText(record)]) {
      assert.ok(!line.includes(SECRET), line)
    }
  })
}

test('an unexpected error has stack frames, an expected one has a code', () => {
  const bug = describeError(new TypeError('x is not a function'))
  assert.equal(bug.type, 'TypeError')
  assert.match(bug.stack?.[0] ?? '', /^at .*logging\.test/)
  const known = describeError(new PunctualError('storage_full', 'no room'))
  assert.deepEqual(known, { type: 'PunctualError', code: 'storage_full', message: 'no room' })
})

test('a JSON record is one line and begins with time, level and message', () => {
  const fields = { request_id: 'req_1', status: 500, route: undefined, error: new Error('a\nb') }
  const line = formatJson({ time, level: 'error', message: 'the request\nfailed', fields })
  assert.match(line, /^\{"time":"2026-01-31T09:00:00\.000Z","level":"error","msg":"the request/)
  assert.equal(line.indexOf('\n'), line.length - 1)
  const record = JSON.parse(line) as { request_id: string; error: { message: string } }
  assert.deepEqual([record.request_id, record.error.message], ['req_1', 'a\nb'])
})

test('quoted text cannot add a line to a text record', () => {
  const error = new PunctualError('internal', 'bad\npunctual: 2026 info: all is well\u001B[2J')
  const line = formatText({ time, level: 'warn', message: 'oh', fields: { error, id: 'req_1' } })
  assert.equal(
    line,
    'punctual: 2026-01-31T09:00:00.000Z warn: oh: bad punctual: 2026 info: all is well [2J [internal] (id=req_1)\n',
  )
})

test('cuts a long message and a long chain of causes', () => {
  let error = new Error('x'.repeat(10_000))
  for (let depth = 0; depth < 50; depth += 1)
    error = new Error('y'.repeat(10_000), { cause: error })
  assert.ok(formatJson({ time, level: 'error', message: 'm', fields: { error } }).length < 8_000)
})
