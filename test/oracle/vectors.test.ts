import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readRule } from '../../src/core/schedule/index.ts'
import { replayVectors } from './replay-vectors.ts'
import { classOf, VECTOR_CLASSES } from './vector-classes.ts'
import { agrees, answerTo, readVectors, type Vector } from './vectors.ts'

const NEW_YORK = 'America/New_York'
/** Cases of our own: at least one for each class. */
const DIFFERENT: readonly [
  name: string,
  expr: string,
  after: string | null,
  expect: string | null,
  zone?: string,
][] = [
  ['range that runs backwards', '0 22-2 * * *', null, 'ok'],
  ['range that runs backwards', '0 9 * * SAT-TUE', '2026-11-18T00:00Z', '2026-11-21T09:00Z'],
  ['step beyond its range', '*/90 * * * *', null, 'ok'],
  ['step beyond its range', '0 0 * * 7/3', '2026-11-18T00:00Z', '2026-11-22T00:00Z'],
  ['question mark outside the days', '? 9 * * *', null, 'ok'],
  ['fewer than five fields', '0 9 * *', null, 'ok'],
  ['nicknames of one library', '@every_minute', null, 'ok'],
  ['last weekday as L5', '0 9 * * L5', '2026-11-18T00:00Z', '2026-11-27T09:00Z'],
  ['L as part of a range or step', '0 9 25-L * *', null, 'ok'],
  ['plus sign before a weekday', '0 9 13 * +FRI', null, 'ok'],
  ['years outside 1970-2099', '0 0 9 1 1 * 2000-2500', null, 'ok'],
  ['months by any beginning of their name', '0 9 1 AUGU *', null, 'ok'],
  ['value said twice', '15,15 * * * *', null, 'error'],
  ['value said twice', '0 9 * * 0,7', null, 'error'],
  ['step from a value on', '10/20 * * * *', null, 'error'],
  ['special days in lists and ranges', '0 9 1,15W * *', null, 'error'],
  ['special days in lists and ranges', '0 9 * * MON-FRI#1', null, 'error'],
  ['full names', '0 9 * * MONDAY', null, 'error'],
  ['last weekday by its name', '0 9 * * FRIL', null, 'error'],
  ['days without a question mark, or with two', '0 0 9 * * *', null, 'error'],
  ['days without a question mark, or with two', '0 9 ? * ?', null, 'error'],
  ['seconds and years', '0 0 9 ? * 1 2027', null, 'error'],
  ['week that begins with 7', '0 9 * * 7-3', null, 'error'],
  ['seconds after the weekday', '0 9 * * 1 30', '2026-11-18T00:00Z', '2026-11-23T09:00:30Z'],
  ['seconds after the weekday', '0 9 * * 1 30 2027', '2026-11-18T00:00Z', '2027-01-04T09:00:30Z'],
  ['week from a day to itself', '0 9 * * 7-7', '2026-11-18T00:00Z', '2026-11-18T09:00Z'],
  ['week that ends with 7 for a step', '0 9 * * 3/2', '2026-11-21T00:00Z', '2026-11-22T09:00Z'],
  ['star with a special day', '0 9 * * *,FRI#3', '2026-11-18T00:00Z', '2026-11-20T09:00Z'],
  ['hashes of H', 'H 9 * * *', '2026-11-18T00:00Z', '2026-11-18T09:59Z'],
  ['day of month and day of week together', '0 9 13 * 5', '2026-11-18T00:00Z', '2027-08-13T09:00Z'],
  [
    'day of month and day of week together',
    '0 9 */7 * 1',
    '2026-11-18T00:00Z',
    '2026-11-22T09:00Z',
  ],
  ['change of the clocks', '30 2 * * *', '2027-03-13T12:00Z', '2027-03-14T07:30Z', NEW_YORK],
  ['change of the clocks', '30 2 * * *', '2027-03-13T12:00Z', '2027-03-15T06:30Z', NEW_YORK],
  ['change of the clocks', '30 1 * * *', '2026-11-01T05:30Z', '2026-11-01T06:30Z', NEW_YORK],
  ['change of the clocks', '0 */2 * * *', '2027-03-14T06:00Z', '2027-03-14T07:00Z', NEW_YORK],
  [
    'gap of another size than an hour',
    '15 2 * * *',
    '2026-10-03T12:00Z',
    '2026-10-03T16:15Z',
    'Australia/Lord_Howe',
  ],
  ['working day in another month', '0 9 31W * *', '2026-05-01T00:00Z', '2026-07-31T09:00Z'],
  ['before 1970', '0 9 * * *', '1950-01-01T00:00Z', '1950-01-01T09:00Z'],
]

const DOCUMENT = readFileSync(
  join(import.meta.dirname, '../../docs/explanation/cron-libraries.md'),
  'utf8',
)

for (const [name, expr, after, expect, zone = 'UTC'] of DIFFERENT) {
  test(`other libraries read ${expr} differently: ${name}`, () => {
    const vector: Vector = { expr, zone, after, expect }
    const answer = answerTo({ cron: expr, zone }, after)
    assert.ok(!agrees(expect, answer), 'it is not')
    assert.equal(classOf(vector, answer), name)
    const reading = readRule({ cron: expr, zone })
    if (reading.ok) return
    const { message, hint } = reading.problem
    for (const text of [message, hint ?? '']) assert.ok(DOCUMENT.includes(text), `${text} is shown`)
  })
}

test('every class has a case here and a line in the docs', () => {
  for (const { name } of VECTOR_CLASSES) {
    assert.ok(
      DIFFERENT.some(([one]) => one === name),
      `${name} has a case`,
    )
    assert.ok(DOCUMENT.includes(`| ${name} |`), `${name} has a line in the docs`)
  }
})

/** Disagreements that would be bugs of Punctual: no class explains them. */
const MISTAKES: readonly [
  expr: string,
  after: string | null,
  expect: string | null,
  zone?: string,
][] = [
  ['0 9 * * 1', '2026-11-18T00:00Z', '2026-11-24T09:00Z'],
  ['0 9 * * *', '2026-11-18T00:00Z', null],
  ['0 9 * * *', null, 'error'],
  ['0 0 9 * * ?', null, 'error'],
  ['0 9 * * 7', '2026-11-18T00:00Z', '2026-11-18T09:00Z'],
  ['0 9 30 2 *', '2026-11-18T00:00Z', '2027-03-02T09:00Z'],
  ['0 9 13 * 5', '2026-11-18T00:00Z', '2026-11-21T09:00Z'],
  ['61 * * * *', null, 'ok'],
  ['0 9 * * 5-9', null, 'ok'],
  ['30 2 * * *', '2027-03-13T12:00Z', '2027-03-14T09:00Z', NEW_YORK],
  ['30 2 * * *', '2027-05-13T12:00Z', '2027-05-14T07:30Z', NEW_YORK],
  ['0 9 15W * *', '2026-11-18T00:00Z', '2026-12-16T09:00Z'],
  ['0 9 * * *', '2026-11-18T09:00Z', '!2026-11-19T09:00Z'],
  ['0 9 * * *', '2026-11-18T00:00Z', '>=2026-11-18T10:00Z'],
]
for (const [expr, after, expect, zone = 'UTC'] of MISTAKES) {
  test(`no class explains ${expr} if ${expect ?? 'never'} is expected`, () => {
    const vector = { expr, zone, after, expect, file: 'own.jsonl', line: 3 }
    const { agreed, unclassified } = replayVectors([vector])
    assert.equal(agreed, 0)
    assert.match(unclassified.join('\n'), /^own\.jsonl:3: ".*" in \S+.*: expected .*, got \S/)
  })
}

const AGREED: readonly [expr: string, after: string | null, expect: string | null][] = [
  ['0 9 * * 1', '2026-11-18T00:00Z', '2026-11-23T09:00:00.000Z'],
  ['0 9 30 2 *', '2026-11-18T00:00Z', null],
  ['0 9 30 2 *', '2026-11-18T00:00Z', '>=2026-11-19T00:00Z'],
  ['0 9 1 1 * 2020', '2026-11-18T00:00Z', null],
  ['61 * * * *', null, 'error'],
  ['0 9 L-3W * 2027', null, 'error'],
  ['0 9 L-3W * * 2027', null, 'ok'],
  ['0 9 * * *', '2026-11-18T00:00Z', '!2026-11-18T08:00Z'],
  ['0 9 * * *', '2026-11-18T00:00Z', '>=2026-11-18T09:00Z'],
]
for (const [expr, after, expect] of AGREED) {
  test(`${expr} agrees with ${expect ?? 'never'}`, () => {
    const vector = { expr, zone: 'UTC', after, expect, file: 'own.jsonl', line: 1 }
    assert.deepEqual(replayVectors([vector]), { agreed: 1, classes: new Map(), unclassified: [] })
  })
}

test('vectors are the lines of the files of a directory; an invalid line is an error with its position', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'punctual-vectors-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const line = { src: 'own', expr: '0 9 * * *', zone: 'UTC', after: null, expect: 'ok', note: '' }
  writeFileSync(join(directory, 'b.jsonl'), `${JSON.stringify(line)}\n\n${JSON.stringify(line)}\n`)
  writeFileSync(join(directory, 'README.md'), 'not a vector')
  assert.deepEqual(
    readVectors(directory).map(({ file, line: number, expr }) => [file, number, expr]),
    [
      ['b.jsonl', 1, '0 9 * * *'],
      ['b.jsonl', 3, '0 9 * * *'],
    ],
  )
  for (const wrong of [
    '{',
    '{"expr": "0 9 * * *"}',
    '{"expr":"* * * * *","expect":"ok","after":"x"}',
  ]) {
    writeFileSync(join(directory, 'a.jsonl'), wrong)
    assert.throws(() => readVectors(directory), /^Error: a\.jsonl:1 is not a vector/)
  }
})

test('npm run oracle -- --vectors fails on a disagreement that is not classified', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'punctual-vectors-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const replay = (expect: string) => {
    const vector = { expr: '0 9 * * *', zone: 'UTC', after: '2026-01-01T00:00Z', expect }
    writeFileSync(join(directory, 'own.jsonl'), JSON.stringify(vector))
    const main = join(import.meta.dirname, 'main.ts')
    return spawnSync(process.execPath, [main, '--vectors', directory], { encoding: 'utf8' })
  }
  const wrong = replay('2026-01-01T10:00Z')
  assert.equal(wrong.status, 1)
  assert.match(wrong.stdout + wrong.stderr, /^own\.jsonl:1: "0 9 \* \* \*" in UTC .*, got 2026-01/m)
  assert.equal(replay('2026-01-01T09:00Z').status, 0)
})
