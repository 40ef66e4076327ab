import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ANY_RUN, matchesAny, nameZone, parseRunFilter, type RunFilter } from './run-filter.ts'

const NOW = Date.UTC(2026, 0, 31, 12)
const HOUR = 3_600_000

const readable: [text: string, filter: Partial<RunFilter>][] = [
  ['', {}],
  ['   ', {}],
  ['state:failed', { states: new Set(['failed']) }],
  ['state:failed,cancelled', { states: new Set(['failed', 'cancelled']) }],
  ['state:waiting', { states: new Set(['blocked', 'scheduled', 'ready']) }],
  ['state:failed state:running', { states: new Set(['running']) }],
  ['job:etl-*', { jobs: ['etl-*'] }],
  ['job:a,b  queue:mail\tworker:w-1', { jobs: ['a', 'b'], queues: ['mail'], workers: ['w-1'] }],
  ['cause:exit,timeout', { causes: new Set(['exit', 'timeout']) }],
  ['steps:no', { steps: false }],
  ['steps:no steps:yes', { steps: true }],
  ['since:24h', { since: NOW - 24 * HOUR }],
  [
    'since:2026-01-01T00:00:00Z until:1h30m',
    { since: Date.UTC(2026, 0, 1), until: NOW - 1.5 * HOUR },
  ],
  ['since:yesterday', { since: Date.UTC(2026, 0, 30) }],
  ['since:2026-01-18 until:noon', { since: Date.UTC(2026, 0, 18), until: NOW }],
  ['since:"yesterday 09:00"', { since: Date.UTC(2026, 0, 30, 9) }],
  [
    'since:yesterday 09:00 Europe/Athens until:5m ago state:failed',
    {
      since: Date.UTC(2026, 0, 30, 7),
      until: NOW - 300_000,
      states: new Set(['failed']),
    },
  ],
  [
    'since:1960-01-01T00:00:00Z until:36500d',
    { since: Date.UTC(1960, 0, 1), until: NOW - 36_500 * 24 * HOUR },
  ],
  ['tag.team:billing', { tags: [{ name: 'team', values: ['billing'] }] }],
  [
    'tag.team:a,b tag.x:"two words, one value"',
    {
      tags: [
        { name: 'team', values: ['a', 'b'] },
        { name: 'x', values: ['two words, one value'] },
      ],
    },
  ],
]
for (const [text, filter] of readable) {
  test(`accepts "${text}"`, () => {
    assert.deepEqual(parseRunFilter(text, NOW), { ...ANY_RUN, ...filter })
  })
}

const refused: [text: string, says: RegExp][] = [
  ['failed', /not key:value; try job:failed\*/],
  ['state:', /not key:value/],
  ['state:failing', /states are blocked/],
  ['state:failed,', /empty value/],
  ['cause:bad', /causes are exit/],
  ['steps:maybe', /steps:yes or steps:no/],
  ['colour:red', /keys are state, job/],
  ['tag:x', /keys are state, job/],
  ['job.x:y', /keys are state, job/],
  ['since:soon', /^q: "soon" is not a time$/],
  ['since:24h failed', /"24h failed" is not a time/],
  ['until:', /not key:value/],
  ['since:2026-02-30T00:00:00Z', /time with its zone/],
  ['x'.repeat(3_000), /longer than/],
  ['job:a\0', /NUL/],
  ['"', /has an unclosed quote/],
  ['job:"nightly', /has an unclosed quote/],
]
for (const [text, says] of refused) {
  test(`rejects "${text.slice(0, 30)}" with a hint`, () => {
    assert.throws(() => parseRunFilter(text, NOW), {
      code: 'invalid_field',
      field: 'q',
      message: says,
    })
  })
}

const zoned: [text: string, sent: string][] = [
  ['since:24h until:5m ago', 'since:24h until:5m ago'],
  ['since:2026-01-01T00:00:00Z', 'since:2026-01-01T00:00:00Z'],
  ['since:yesterday', 'since:"yesterday Europe/Athens"'],
  [
    'job:a since:yesterday 09:00 state:failed',
    'job:a since:"yesterday 09:00 Europe/Athens" state:failed',
  ],
  ['until:"2026-01-01"', 'until:"2026-01-01 Europe/Athens"'],
  ['since:"today UTC"', 'since:"today UTC"'],
  ['tag.x:"since:today" failed', 'tag.x:"since:today" failed'],
  ['since:"today', 'since:"today'],
]
for (const [text, sent] of zoned) {
  test(`${text} is sent as ${sent} from Athens`, () => {
    assert.equal(nameZone(text, 'Europe/Athens'), sent)
  })
}

const globs: [pattern: string, text: string, isMatch: boolean][] = [
  ['etl', 'etl', true],
  ['etl', 'etl-1', false],
  ['etl-*', 'etl-1', true],
  ['etl-*', 'etl-', true],
  ['*', '', true],
  ['*-1', 'etl-1', true],
  ['e*l*1', 'etl-1', true],
  ['e*l*1', 'el', false],
  ['ab*ba', 'aba', false],
  ['a.c', 'abc', false],
]
for (const [pattern, text, isMatch] of globs) {
  test(`${pattern} ${isMatch ? 'means' : 'does not mean'} ${text || 'nothing'}`, () => {
    assert.equal(matchesAny(text, [pattern]), isMatch)
  })
}

test('without patterns every text matches', () => assert.equal(matchesAny('x', null), true))

test('patterns agree with the equivalent regular expression', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
  fc.assert(
    fc.property(
      letters,
      fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }),
      (glob, text) => {
        const expected = new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(text)
        assert.equal(matchesAny(text, [glob]), expected)
      },
    ),
  )
})

test('any text is accepted or rejected with a readable error', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        parseRunFilter(text, NOW)
      } catch (error) {
        assert.equal((error as { code: string }).code, 'invalid_field')
      }
    }),
  )
})
