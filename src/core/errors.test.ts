import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ERRORS, PunctualError, type ErrorCode } from './errors.ts'

const codes = Object.keys(ERRORS) as ErrorCode[]

/** Rows of the table in the reference: | `code` | status | meaning | hint | */
function documented(): Map<string, { status: number; meaning: string; hint: string }> {
  const page = new URL('../../docs/reference/errors.md', import.meta.url)
  const rows = new Map<string, { status: number; meaning: string; hint: string }>()
  for (const line of readFileSync(page, 'utf8').split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim())
    const code = /^`(\w+)`$/.exec(cells[1] ?? '')?.[1]
    if (code === undefined) continue
    assert.ok(!rows.has(code), `${code} is documented twice`)
    rows.set(code, { status: Number(cells[2]), meaning: cells[3] ?? '', hint: cells[4] ?? '' })
  }
  return rows
}

test('the reference lists every code, in the order of the catalogue, and no other', () => {
  assert.deepEqual([...documented().keys()], codes)
})

test('the reference has the status, the hint and a meaning for every code', () => {
  for (const [code, { status, meaning, hint }] of documented()) {
    assert.deepEqual([status, hint], [...ERRORS[code as ErrorCode]], code)
    assert.ok(meaning.length > 10, `${code} has no meaning`)
  }
})

test('a code is snake_case, a status is an error, a hint is a sentence', () => {
  for (const code of codes) {
    const [status, hint] = ERRORS[code]
    assert.match(code, /^[a-z]+(_[a-z]+)*$/)
    assert.ok(status >= 400 && status < 600, code)
    assert.match(hint, /^[A-Z`].*\.$/s, code)
    assert.ok(!hint.includes('\n'), code)
  }
})

test('an error gets its status and its hint from its code', () => {
  const cause = new Error('inner')
  const error = new PunctualError('lease_lost', 'the run has moved on', { cause, field: 'runs.3' })
  assert.ok(error instanceof Error)
  assert.deepEqual(
    [error.name, error.code, error.status, error.message, error.field, error.cause],
    ['PunctualError', 'lease_lost', 409, 'the run has moved on', 'runs.3', cause],
  )
  assert.equal(error.hint, ERRORS.lease_lost[1])
})

test('an error without a field has no field', () => {
  const error = new PunctualError('internal', 'x')
  assert.equal(error.field, undefined)
  assert.equal(error.cause, undefined)
})
