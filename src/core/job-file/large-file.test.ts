import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaledMs } from '../../../test/support/slowdown-factor.ts'
import { readJobFile } from './read-job-file.ts'
import { readYaml } from './yaml-source.ts'

/** Quadratic work would take minutes for this size and exceed the deadline. */
const MANY = 50_000
const DEADLINE = { timeout: scaledMs(60_000) }

const read = (text: string) => readJobFile('large.job.yaml', text, 'UTC')
const lines = (line: (nth: number) => string) =>
  Array.from({ length: MANY }, (_, nth) => line(nth)).join('')

test('reads a file with very many keys', DEADLINE, () => {
  const keys = lines((nth) => `    k${nth}: ${nth}\n`)
  const { definition, problems } = read(`run: "true"\nschedule:\n  every: 1h\n  input:\n${keys}`)
  assert.deepEqual(problems, [])
  assert.ok(definition)
})

test('lists the first of very many problems and counts the others', DEADLINE, () => {
  const { problems } = read(`run: "true"\n${lines((nth) => `k${nth}: 1\n`)}`)
  assert.equal(problems.length, 1_001)
  assert.equal(problems[999]?.line, 1_001)
  const last = problems.at(-1)
  assert.equal(last?.line, 1_002)
  assert.equal(last?.message, '49000 more problems, from here on, are not listed')
})

test('reports the second position of a duplicate key among very many', DEADLINE, () => {
  const keys = lines((nth) => `k${nth}: 1\n`)
  const { problems } = readYaml(`${keys}k7: 2\nother: { a: 1, a: 2 }\n`)
  assert.deepEqual(
    problems.map(({ message, place }) => [message, place]),
    [
      ['map keys must be unique', { line: MANY + 1, column: 1, length: 1 }],
      ['map keys must be unique', { line: MANY + 2, column: 16, length: 1 }],
    ],
  )
})

test('reports too many steps as a problem of the file', DEADLINE, () => {
  const { problems } = read(`steps: [${'{},'.repeat(100_000)}{}]`)
  assert.equal(problems.length, 1)
  assert.equal(problems[0]?.code, 'too_many_steps')
  assert.equal(problems[0]?.line, 1)
})
