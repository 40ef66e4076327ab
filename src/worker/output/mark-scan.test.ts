import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type OutputMarker, markerOf } from '../../core/text/markers.ts'
import { MarkScan } from './mark-scan.ts'

function marksIn(...pieces: (string | Buffer)[]): OutputMarker[] {
  const marks: OutputMarker[] = []
  const scan = new MarkScan((mark) => marks.push(mark))
  for (const piece of pieces) scan.push(Buffer.from(piece))
  scan.end()
  return marks
}

const ERROR = { kind: 'error', text: 'x' } as const

const FOUND: [why: string, pieces: string[], count: number][] = [
  ['in the first line', ['::error::x\n'], 1],
  ['in a later line', ['a\nb\n::error::x\nc'], 1],
  ['one after the other', ['::error::x\n::error::x\n::error::x\n'], 3],
  ['without a newline at the end', ['a\n::error::x'], 1],
  ['cut anywhere', ['a\n', ':', ':err', 'or::x', '\nb'], 1],
  ['cut after its newline', ['::error::x', '\n', '::error::x\n'], 2],
  ['after an empty piece', ['', 'a\n', '', '::error::x\n'], 1],
  ['not within a line', ['a ::error::x\n'], 0],
  ['not in the rest of one', ['a', '::error::x\n'], 0],
  ['not after a colon', ['a\n:', 'x\n', ':x::error::x\n'], 0],
]
for (const [why, pieces, count] of FOUND) {
  test(`markers are found ${why}`, () =>
    assert.deepEqual(
      marksIn(...pieces),
      Array.from({ length: count }, () => ERROR),
    ))
}

test('the same markers are found however the output is split', () => {
  const line = fc.constantFrom(
    '::error::x',
    '::progress:: 5%',
    '::group::g',
    'plain',
    ':',
    '::',
    '',
  )
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(60)), (lines, cuts) => {
      const text = lines.map((one) => `${one}\n`).join('')
      const pieces: string[] = []
      let rest = text
      for (const cut of cuts) {
        pieces.push(rest.slice(0, cut))
        rest = rest.slice(cut)
      }
      const expected = lines.flatMap((one) => markerOf(one) ?? [])
      assert.deepEqual(marksIn(...pieces, rest), expected)
    }),
  )
})

test('a marker without an end is parsed as far as it goes', () => {
  const marks = marksIn('::error::', ...Array<string>(1_000).fill('y'.repeat(10_000)), '\nz\n')
  assert.deepEqual(marks, [{ kind: 'error', text: 'y'.repeat(1_000) }])
})
