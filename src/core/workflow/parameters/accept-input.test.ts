import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PunctualError } from '../../errors.ts'
import type { Json } from '../../expression/expression.ts'
import { acceptInput } from './accept-input.ts'
import { readParameters } from './parameters.ts'
import { throwFirst } from '../problems.ts'

const run = { job: 'etl', project: 'shop', scheduledAt: '2026-03-29T03:00:00+03:00' }

const parameters = readParameters(
  {
    date: { type: 'string', format: 'date', default: '${{ run.scheduled_at.date }}' },
    full: { type: 'boolean', default: false },
    count: { type: 'integer' },
    size: { type: 'string', enum: ['s', 'm'], required: false },
  },
  'input',
  throwFirst,
)

test('fills in defaults, and leaves out optional fields without a default', () => {
  assert.deepEqual(acceptInput(parameters, { count: 2 }, run), {
    date: '2026-03-29',
    full: false,
    count: 2,
  })
  assert.deepEqual(acceptInput([], [1], run), [1])
  assert.equal(acceptInput([], undefined, run), null)
})

const refused: [why: string, input: Json | undefined, field: string, message: RegExp][] = [
  ['nothing', undefined, 'input.count', /is missing/],
  ['a list', [], 'input', /an object/],
  ['null', null, 'input.count', /is missing/],
  ['an unknown field', { count: 1, fulll: true }, 'input.fulll', /did you mean input\.full/],
  ['a wrong type', { count: 1.5 }, 'input.count', /a whole number/],
  ['text for a number', { count: '1' }, 'input.count', /a whole number/],
  ['a day no calendar has', { count: 1, date: '2026-02-30' }, 'input.date', /a date/],
  ['none of the choices', { count: 1, size: 'l' }, 'input.size', /one of "s", "m"/],
]

for (const [why, input, field, message] of refused) {
  test(`rejects an input: ${why}`, () => {
    assert.throws(
      () => acceptInput(parameters, input, run),
      (error) =>
        error instanceof PunctualError && error.field === field && message.test(error.message),
    )
  })
}
