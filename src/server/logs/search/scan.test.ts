import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { OutputEntry } from '../../../core/run/output.ts'
import { ofEntries } from '../chunk-pack.ts'
import { createMatcher, type LogQuery } from './pattern.ts'
import { requiredLiterals } from './required-literals.ts'
import { scanChunk } from './scan.ts'

const SPAN = { from: 0, limit: 1_000 }

/** Hits of a pattern in one chunk, with and without skipping chunks by their filters. */
function hitsIn(text: string, { ignoresCase = false, pattern }: Pattern) {
  const query: LogQuery = { text: pattern, mode: 'regex', ignoresCase }
  const matcher = createMatcher(query)
  const entries: OutputEntry[] = [[1, 1, text]]
  const scan = (mayOccur = matcher.mayOccur) => {
    const careful = { find: matcher.find, mayOccur }
    return scanChunk(ofEntries(entries), 0, { open: [], span: SPAN, matcher: careful }).hits
  }
  return { found: scan(), there: scan(() => true) }
}
type Pattern = { readonly pattern: string; readonly ignoresCase?: boolean }

const TABLE: [why: string, pattern: string, text: string, lines: number[]][] = [
  ['a return before the newline is no part of the line', 'error$', 'fine\r\nerror\r\n', [1]],
  ['nor does it fill an empty line', '^$', 'one\r\n\r\ntwo\r\n', [1]],
  ['of two returns the first is', 'error\\r$', 'error\r\r\n', [0]],
  ['so is one before a colour', 'error\\r$', 'error\r\u001B[0m\n', [0]],
  ['bytes that are no text count one by one', 'a..b', 'a\udce2\udc82b\n', [0]],
  ['lines end at newlines', 'error$', 'error\rmore\n', []],
  ['and begin after them', '^more', 'error\rmore\n', []],
]
for (const [why, pattern, text, lines] of TABLE) {
  test(`/${pattern}/ in ${JSON.stringify(text)}: ${why}`, () => {
    const { found } = hitsIn(text, { pattern })
    assert.deepEqual(
      found.map(({ line }) => line),
      lines,
    )
  })
}

const ORDINARY = fc.constantFrom('a', 'b', '^', '$', '.')
const ODD = fc.constantFrom(
  'K',
  's',
  ' ',
  'é',
  '\\b',
  '\\B',
  '\\s',
  '\\S',
  '\\w',
  '\\W',
  '\\r',
  '\\.',
  '\\z',
  '\\A',
  '\\101',
  '\\07',
  '\\x41',
  '\\x{212A}',
  '\\pL',
  '\\Qa.\\E',
  '[ab]',
  '[^a]',
  '[]a]',
  '[^]a]',
  '[\\]a]',
  '[[:alpha:]]',
  '[[:^space:]]',
  '[[:^alpha:]b]',
)
const GROUP = fc.constantFrom('(', '(?:', '(?i:', '(?s:', '(?m:')
const REPEAT = fc.constantFrom('', '', '', '', '*', '+', '?', '*?', '{2}', '{0,1}', '{,2}')
const { pattern: PATTERN } = fc.letrec<{ pattern: string; part: string; row: string }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 2 },
    { weight: 6, arbitrary: ORDINARY },
    { weight: 3, arbitrary: ODD },
    { weight: 1, arbitrary: fc.tuple(GROUP, tie('pattern')).map((group) => `${group.join('')})`) },
  ),
  row: fc
    .array(fc.tuple(tie('part'), REPEAT), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.flat().join('')),
  pattern: fc.oneof(
    { maxDepth: 2 },
    { weight: 4, arbitrary: tie('row') },
    { weight: 1, arbitrary: fc.tuple(tie('row'), tie('pattern')).map((both) => both.join('|')) },
  ),
}))

const PIECE = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('a', 'b', '\n', '\r\n') },
  fc.constantFrom(
    'A',
    'k',
    '\u212A',
    'S',
    ' ',
    'é',
    '.',
    ']',
    '{,2}',
    '\u0007',
    '\r',
    '\udce2',
    '\udc82',
    '\u001B[1m',
    '\u001B]0;a\u0007',
    '\u001B',
  ),
)
const TEXT = fc
  .tuple(fc.array(PIECE, { maxLength: 6 }), fc.constantFrom('\n', '\r\n'))
  .map((pieces) => pieces.flat().join(''))

test('no chunk with a matching line is skipped', () => {
  fc.assert(
    fc.property(PATTERN, fc.boolean(), TEXT, (pattern, ignoresCase, text) => {
      const { found, there } = hitsIn(text, { pattern, ignoresCase })
      assert.deepEqual(found, there)
    }),
    { numRuns: 3_000 },
  )
})

test('the literals required by a pattern are in every matching line', () => {
  fc.assert(
    fc.property(PATTERN, TEXT, (pattern, text) => {
      for (const hit of hitsIn(text, { pattern }).there) {
        for (const literal of requiredLiterals(pattern)) assert.ok(hit.text.includes(literal))
      }
    }),
    { numRuns: 3_000 },
  )
})
