import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Pausing, runWithoutPauses } from '../../core/pausing.ts'
import { parsingJsonBody } from './json-body.ts'
import { parsingJson, PieceError } from './json-pieces.ts'
import { scanJson } from './json-scan.ts'

const FAILED = Symbol('failed')

function whole(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return FAILED
  }
}

function inPieces(text: string, pieceBytes: number): unknown {
  try {
    return runWithoutPauses(parsingJson(Buffer.from(text), pieceBytes))
  } catch (error) {
    if (error instanceof PieceError) return FAILED
    throw error
  }
}

/** The scan comes first in a request: what it refuses is never parsed. */
const passesScan = (text: string) => scanJson(Buffer.from(text)).refused === undefined

const anyJson = fc.jsonValue({ maxDepth: 5, noUnicodeString: false })
const indent = fc.constantFrom('', ' ', '\n\t')
const pieceSize = fc.integer({ min: 1, max: 40 })

test('a text parsed in pieces gives the same value as in one go, however small the pieces', () => {
  fc.assert(
    fc.property(anyJson, indent, pieceSize, (value, space, size) => {
      const text = JSON.stringify(value, null, space)
      if (passesScan(text)) assert.deepEqual(inPieces(text, size), whole(text), text)
    }),
    { numRuns: 2_000 },
  )
})

test('texts with escapes and characters beyond ASCII are cut between them', () => {
  const part = fc.constantFrom(
    'a',
    'é',
    '€',
    '😀',
    '\\n',
    '\\\\',
    '\\"',
    '\\u00e9',
    '\\ud83d\\ude00',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), pieceSize, (parts, size) => {
      const text = `{"a":["${parts.join('')}",1]}`
      assert.deepEqual(inPieces(text, size), whole(text), text)
    }),
    { numRuns: 2_000 },
  )
})

test('text that is not JSON is refused in pieces, too', () => {
  const sign = fc.constantFrom(...'[]{}:,"\\ 1xn\n')
  const mutated = fc.tuple(anyJson, fc.nat(), sign, fc.constantFrom(0, 1))
  fc.assert(
    fc.property(mutated, pieceSize, ([value, place, put, removed], size) => {
      const text = JSON.stringify(value)
      const at = place % (text.length + 1)
      const wrong = text.slice(0, at) + put + text.slice(at + removed)
      if (wrong.isWellFormed() && passesScan(wrong))
        assert.deepEqual(inPieces(wrong, size), whole(wrong), wrong)
    }),
    { numRuns: 5_000 },
  )
  const some = [
    '',
    ' ',
    '[',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a":1,}',
    '{"a"}',
    '{"a" 1}',
    '[1]]',
    '1 2',
    '"a',
    '[}',
    '{]',
  ]
  for (const text of some)
    for (let size = 1; size < 9; size += 1) assert.equal(inPieces(text, size), FAILED, text)
})

/** Counts the pauses of the work and returns its result. */
function pausesOf<Result>(work: Pausing<Result>): { pauses: number; value: Result } {
  for (let pauses = 0; ; pauses += 1) {
    const { done, value } = work.next()
    if (done) return { pauses, value }
  }
}

/** Each has some megabytes; at least one pause per 128 KB and pass is expected. */
const LARGE: readonly (readonly [name: string, text: string])[] = [
  ['one list', JSON.stringify({ input: new Array(1_000_000).fill(0) })],
  ['one text', JSON.stringify({ input: 'é'.repeat(1_000_000) })],
  ['one escaped text', `{"input":"${'\\u00e9'.repeat(350_000)}"}`],
  [
    'many runs',
    JSON.stringify({
      runs: Array.from({ length: 10_000 }, () => ({ job: 'a', input: { b: 'c'.repeat(180) } })),
    }),
  ],
  [
    'many keys',
    JSON.stringify({
      input: Array.from({ length: 10 }, () =>
        Object.fromEntries(Array.from({ length: 16_000 }, (_, nth) => [`k${nth}`, nth])),
      ),
    }),
  ],
]

test('a large body is parsed with pauses and gives the same value', () => {
  for (const [name, text] of LARGE) {
    const bytes = Buffer.from(text)
    const { pauses, value } = pausesOf(parsingJsonBody(bytes))
    assert.deepEqual(value, JSON.parse(text), name)
    assert.ok(pauses >= bytes.length / (128 * 1024), `${name}: ${pauses} pauses`)
  }
})

test('an error in a large body is reported with its position', () => {
  const items = '1,'.repeat(500_000)
  for (const [text, at] of [
    [`{"a":"é","b":[${items}x]}`, 14 + items.length],
    [`{"a":"é","b":[${items}1]`, 16 + items.length],
    [`{"a":"é","b":[${items}1}}`, 15 + items.length],
  ] as const) {
    assert.throws(() => runWithoutPauses(parsingJsonBody(Buffer.from(text))), {
      code: 'invalid_json',
      message: `the body is not valid JSON at character ${at}`,
    })
  }
})

test('NUL in a large body is reported with its field, with pauses on the way', () => {
  const text = `{"input":[${'"x",'.repeat(300_000)}{"name":"\\u0000"}]}`
  const work = parsingJsonBody(Buffer.from(text))
  let pauses = 0
  assert.throws(
    () => {
      for (; !work.next().done;) pauses += 1
    },
    { field: 'input.300000.name' },
  )
  assert.ok(pauses > 300, `${pauses} pauses`)
})
