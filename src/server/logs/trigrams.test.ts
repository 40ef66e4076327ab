import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { OutputEntry } from '../../core/run/output.ts'
import { ofEntries } from './chunk-pack.ts'
import { trigramBits, trigramsOf } from './trigrams.ts'

const filler = 'some line of no interest\n'.repeat(1_000)
const filterOf = (...entries: OutputEntry[]) => trigramsOf(ofEntries([...entries, [0, 1, filler]]))

function has(filter: Buffer | null, text: string): boolean {
  return trigramBits(text).every((bit) => ((filter?.[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0)
}

test('text in a chunk is never missed, in any case', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      const printed = text.replaceAll('\n', ' ').toWellFormed()
      fc.pre(!printed.includes('\u001B'))
      const filter = filterOf([0, 2, `${printed}\n`])
      assert.ok(has(filter, printed))
      assert.ok(
        has(
          filter,
          printed.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
        ),
      )
    }),
  )
})

test('most text that is not in a chunk is excluded', () => {
  const filter = filterOf([0, 1, 'connection refused\n'])
  assert.ok(has(filter, 'refused'))
  assert.equal(has(filter, 'segmentation fault'), false)
})

test('colours in the middle of a word do not hide it', () => {
  assert.ok(has(filterOf([0, 1, 'er\u001B[31mror\u001B[0m\n']), 'error'))
})

const UNFILTERED: [why: string, entries: OutputEntry[]][] = [
  ['is short', [[0, 1, 'short\n']]],
  ['ends within a line', [[0, 1, `${filler}and then`]]],
  [
    'has a line with one of the other stream in it',
    [
      [0, 1, 'half '],
      [0, 2, 'other\n'],
      [0, 1, `line\n${filler}`],
    ],
  ],
]
for (const [why, entries] of UNFILTERED) {
  test(`a chunk that ${why} is always searched`, () =>
    assert.equal(trigramsOf(ofEntries(entries)), null))
}

test('a line that comes in several entries, with nothing in between, is searched as one', () => {
  assert.ok(filterOf([0, 1, 'hal'], [1, 1, 'ves\n']))
})
