import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicId } from '../../core/ids.ts'
import {
  blobLabelOf,
  blobOwnerOf,
  readReference,
  withoutMark,
  writeReference,
} from './reference.ts'

const RUN = 123_456_789
const NAME = `${blobLabelOf(RUN, 'input', 7)}-${'0af3'.repeat(16)}`
const TEXT = writeReference({ bytes: 70_000, name: NAME })

test('a written reference is read again, by its own run', () => {
  assert.deepEqual(readReference(RUN, TEXT), { bytes: 70_000, name: NAME })
  assert.deepEqual(blobOwnerOf(NAME), { run: publicId('run', RUN), kind: 'input' })
  assert.throws(() => JSON.parse(TEXT), SyntaxError)
})

const table: [why: string, runId: number, text: string | null][] = [
  ['nothing', RUN, null],
  ['an empty text', RUN, ''],
  ['JSON that quotes one', RUN, JSON.stringify(TEXT)],
  ['the reference of another run', RUN + 1, TEXT],
  ['a mark and nothing else', RUN, '@'],
  ['a mark before words', RUN, '@home'],
  ['one with something behind it', RUN, `${TEXT}\n`],
  ['one with something before it', RUN, ` ${TEXT}`],
  ['one that leads elsewhere', RUN, TEXT.replace('-input-', '-../..-')],
  ['one without a size', RUN, TEXT.replace('70000', '')],
]
for (const [why, runId, text] of table) {
  test(`${why} is not a reference`, () => assert.equal(readReference(runId, text), undefined))
}

test('a result that looks like a reference is stored as the text it is', () => {
  assert.equal(withoutMark('{"a":1}'), '{"a":1}')
  assert.equal(readReference(RUN, withoutMark(TEXT)), undefined)
  assert.equal(JSON.parse(withoutMark(TEXT)), TEXT)
})
