import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import fc from 'fast-check'
import { findSchemaProblems } from './find-problems.ts'
import { JobFileSchema } from './job-file-schema.ts'

const table: [why: string, value: unknown, faults: [field: string, message: RegExp][]][] = [
  ['a valid value', { run: 'x', retry: 3, steps: undefined }, []],
  ['not an object', [], [['', /the job must be an object/]]],
  ['an unknown field', { rnu: 'x' }, [['rnu', /did you mean run/]]],
  [
    'every problem once',
    { run: 1, priority: 99 },
    [
      ['run', /text/],
      ['priority', /-10 to 10/],
    ],
  ],
  [
    'the most similar branch of a choice',
    { steps: [{ run: 1 }] },
    [['steps.0.run', /must be text/]],
  ],
  ['no branch at all', { steps: 'x' }, [['steps', /a list of steps, or an object/]]],
  ['within a choice of objects', { retry: { mx: 1 } }, [['retry.mx', /did you mean max/]]],
  ['a missing field', { input: { a: {} } }, [['input.a.type', /is missing/]]],
  ['an invalid trigger', { triggers: [{ afer: 'x' }] }, [['triggers.0.afer', /mean after/]]],
  ['an invalid name', { tags: { 'a b': 'x' } }, [['tags.a b', /not a name/]]],
]

for (const [why, value, faults] of table) {
  test(`a schema problem: ${why}`, () => {
    const found = findSchemaProblems(JobFileSchema, value)
    assert.deepEqual(
      found.map(({ field }) => field),
      faults.map(([field]) => field),
    )
    for (const [nth, [, message]] of faults.entries())
      assert.match(found[nth]?.message ?? '', message)
  })
}

test('agrees with the validator about valid values', () => {
  const load = createRequire(createRequire(import.meta.url).resolve('@fastify/ajv-compiler'))
  const { default: Ajv } = load('ajv/dist/2020.js') as {
    default: new (options: object) => { compile(schema: object): (value: unknown) => boolean }
  }
  const validate = new Ajv({ strict: false }).compile(JobFileSchema)
  const names = ['run', 'steps', 'retry', 'schedule', 'tags', 'input', 'env', 'concurrency', 'http']
  const inner = ['max', 'every', 'type', 'url', 'key', 'limit', 'needs', 'a', 'run', 'each', 'post']
  const scalar = fc.constantFrom<unknown>('x', '', 'none', 'string', 1, -1, 1.5, 99, true, null, [])
  const deep = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom(...inner), tie('value'), { maxKeys: 3 }),
    ),
  })).value
  const file = fc.dictionary(fc.constantFrom(...names), deep, { maxKeys: 3 })
  fc.assert(
    fc.property(file, (value) => {
      // As read from a file: plain objects without undefined.
      const read: unknown = JSON.parse(JSON.stringify(value))
      assert.equal(findSchemaProblems(JobFileSchema, read).length === 0, validate(read))
    }),
    { numRuns: 3_000 },
  )
})
