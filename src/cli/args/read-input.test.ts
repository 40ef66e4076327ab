import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Declared, readFlags, readInput } from './read-input.ts'

const DECLARED: Declared = {
  date: { type: 'string' },
  full: { type: 'boolean' },
  dry_run: { type: 'boolean' },
  count: { type: 'integer' },
  parts: { type: 'array' },
}

describe('an input by flags', () => {
  const TABLE: [words: string, input: object][] = [
    ['--date 2026-01-31', { date: '2026-01-31' }],
    ['--date=2026-01-31 --full', { date: '2026-01-31', full: true }],
    ['--full --date 7', { full: true, date: '7' }],
    ['--no-full --dry-run', { full: false, dry_run: true }],
    ['--dry_run=false', { dry_run: false }],
    ['--count -3', { count: -3 }],
    ['--parts [1,2]', { parts: [1, 2] }],
  ]
  for (const [words, input] of TABLE) {
    test(words, () => assert.deepEqual(readFlags(words.split(' '), DECLARED), input))
  }
})

describe('invalid inputs', () => {
  const TABLE: [words: string, message: RegExp][] = [
    ['--dat 1', /^unknown option '--dat'$/],
    ['--no-date', /^unknown option '--no-date'$/],
    ['-x', /^unknown option '-x'$/],
    ['--date', /^--date needs a value$/],
    ['--full now', /^"now" is one word too many$/],
    ['--full=yes', /^full is "yes" and not true or false$/],
    ['--count many', /^count is "many" and not a number$/],
    ['--parts [1', /^parts is not JSON$/],
  ]
  for (const [words, message] of TABLE) {
    test(words, () => assert.throws(() => readFlags(words.split(' '), DECLARED), { message }))
  }
})

test('an input is JSON or single fields, and the last value wins', () => {
  assert.deepEqual(readInput(['{"a":1,"date":2}', 'date=3', 'b=[1]', 'c=x y'], DECLARED), {
    a: 1,
    date: '3',
    b: [1],
    c: 'x y',
  })
  assert.deepEqual(readInput(['[1]'], {}), [1])
  assert.throws(() => readInput(['{a'], {}), { message: 'the input is not JSON' })
})
