import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../expression/expression.ts'
import { afterFactsIn } from '../../expression/references.ts'
import { readParameters } from '../parameters/parameters.ts'
import { throwFirst } from '../problems.ts'
import { sourceJobOf, triggeredInput, readTriggers } from './triggers.ts'

const RUN = { job: 'report', project: 'shop', scheduledAt: '2026-03-29T03:05:00+03:00' }
const AFTER = {
  run: 'run_1',
  job: 'ingest',
  state: 'succeeded',
  input: { day: 'monday' },
  output: [7],
}

function read(...triggers: Parameters<typeof readTriggers>[0]) {
  return readTriggers(triggers, { job: 'report', parameters: [] })
}

test('reads the jobs of triggers with after; the default outcome is ok', () => {
  const follows = read({ webhook: 'x' }, { after: 'a' }, { after: 'etl/load', on: 'any' })
  assert.deepEqual(
    follows.map(({ job, outcome: wants, at }) => [job, wants, at]),
    [
      ['a', 'ok', 'triggers.1'],
      ['etl/load', 'any', 'triggers.2'],
    ],
  )
  assert.deepEqual(
    follows.map(({ job }) => sourceJobOf(job)),
    ['a', 'etl'],
  )
})

const inputs: [input: unknown, facts: string[], given: Json | undefined][] = [
  [undefined, [], undefined],
  [7, [], 7],
  ['${{ after.output }}', ['output'], [7]],
  [{ day: '${{ after.input.day }}' }, ['input'], { day: 'monday' }],
  [['${{ after.job }} of ${{ after.run }}'], ['job', 'run'], ['ingest of run_1']],
  ['${{ after.state == "failed" || after.output[0] > 6 }}', ['state', 'output'], true],
  ['${{ run.scheduled_at.date }}: ${{ default(after.input.no, 0) }}', ['input'], '2026-03-29: 0'],
]

for (const [input, facts, given] of inputs) {
  test(`the input of a triggered run for ${JSON.stringify(input)}`, () => {
    const [followed] = read({ after: 'ingest', input })
    assert.ok(followed)
    assert.deepEqual(triggeredInput(followed, RUN, AFTER), given)
    const named = followed.input ? [...afterFactsIn(followed.input)] : []
    assert.deepEqual(named, facts, 'nothing else has to be read for it')
  })
}

test('checks an input against the parameters of the job, as far as it is known', () => {
  const declared = {
    day: { type: 'string', format: 'date' },
    size: { type: 'string', enum: ['s', 'm'], default: 's' },
    count: { type: 'integer', required: false },
  } as const
  const parameters = readParameters(declared, 'input', throwFirst)
  const take = (input?: unknown) =>
    readTriggers([{ after: 'ingest', input }], { job: 'report', parameters })
  for (const good of [
    '${{ after.output }}',
    { day: '2026-01-31' },
    { day: '${{ after.input.day }}', size: '${{ after.output[0] }}', count: 3 },
  ]) {
    assert.equal(take(good).length, 1)
  }
  for (const [bad, field] of [
    [undefined, 'day'],
    [{}, 'day'],
    ['x ${{ after.job }}', ''],
    [['${{ after.job }}'], ''],
    [{ day: 'monday' }, 'day'],
    [{ day: '2026-01-31', size: 'l' }, 'size'],
    [{ day: '${{ after.job }}', x: 1 }, 'x'],
  ] as const) {
    assert.throws(() => take(bad), { field: `triggers.0.input${field && `.${field}`}` })
  }
})
