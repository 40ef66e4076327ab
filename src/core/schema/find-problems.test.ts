import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import fc from 'fast-check'
import { explain } from './find-problems.ts'
import { JobFile } from './job-file-schema.ts'

const table: [why: string, value: unknown, faults: [field: string, message: RegExp][]][] = [
  ['nothing is wrong', { run: 'x', retry: 3, steps: undefined }, []],
  ['not an object', [], [['', /the job must be an object/]]],
  ['an unknown field', { rnu: 'x' }, [['rnu', /did you mean run/]]],
  [
    'every fault, once',
    { run: 1, priority: 99 },
    [
      ['run', /text/],
      ['priority', /-10 to 10/],
    ],
  ],
  ['the branch that it is like', { steps: [{ run: 1 }] }, [['steps.0.run', /must be text/]]],
  ['no branch at all', { steps: 'x' }, [['steps', /a list of steps, or an object/]]],
  ['within a choice of objects', { retry: { mx: 1 } }, [['retry.mx', /did you mean max/]]],
  ['what is missing', { input: { a: {} } }, [['input.a.type', /is missing/]]],
  ['a trigger that is none', { triggers: [{ afer: 'x' }] }, [['triggers.0.afer', /mean after/]]],
  ['a name that is none', { tags: { 'a b': 'x' } }, [['tags.a b', /not a name/]]],
]

for (const [why, value, faults] of table) {
  test(`what is wrong with a shape: ${why}`, () => {
    const found = explain(JobFile, value)
    assert.deepEqual(
      found.map(({ field }) => field),
      faults.map(([field]) => field),
    )
    for (const [nth, [, message]] of faults.entries())
      assert.match(found[nth]?.message ?? '', message)
  })
}

test('a validator agrees on what is in order', () => {
  const load = createRequire(createRequire(import.meta.url).resolve('@fastify/ajv-compiler'))
  const { default: Ajv } = load('ajv/dist/2020.js') as {
    default: new (options: object) => { compile(schema: object): (value: unknown) => boolean }
  }
  const validate = new Ajv({ strict: false }).compile(JobFile)
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
      // As it is read from a file: plain objects, nothing undefined.
      const read: unknown = JSON.parse(JSON.stringify(value))
      assert.equal(explain(JobFile, read).length === 0, validate(read))
    }),
    { numRuns: 3_000 },
  )
})
