import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cut, widthOf, wrap } from './text-width.ts'

const widths: [why: string, text: string, width: number][] = [
  ['nothing', '', 0],
  ['letters', 'backup', 6],
  ['colours take no room', '\u001B[31m✖ failed\u001B[0m', 8],
  ['letters of East Asia take two columns', '夜間バックアップ', 16],
  ['accents sit on their letter', 'e\u0301te\u0301', 3],
  ['pictures take two', '🚀', 2],
]
for (const [why, text, width] of widths) test(why, () => assert.equal(widthOf(text), width))

test('a text that is too long ends in three dots, and fills the width', () => {
  assert.equal(cut('backup', 6), 'backup')
  assert.equal(cut('nightly-backup', 8), 'nightly…')
  assert.equal(cut('夜間バック', 6), '夜間…')
  assert.equal(cut('\u001B[31m✖ failed\u001B[0m', 4), '✖ f…')
})

test('sentences are wrapped between words, and words only where necessary', () => {
  assert.deepEqual(wrap('it waits for a worker', 10), ['it waits', 'for a', 'worker'])
  assert.deepEqual(wrap('a '.repeat(3).trim(), 80), ['a a a'])
  assert.deepEqual(wrap('abcdefghij', 4), ['abcd', 'efgh', 'ij'])
  assert.deepEqual(wrap('夜間', 1), ['夜間'])
  assert.deepEqual(wrap('anything at all', Infinity), ['anything at all'])
})
