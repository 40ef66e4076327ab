import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../limits.ts'
import { refuseResult } from './result.ts'

const table: [why: string, text: string, refused: RegExp | undefined][] = [
  ['a number', '1', undefined],
  ['null', 'null', undefined],
  ['an object', '{"pages":[1,2,{"last":true}]}', undefined],
  ['text as long as it may be', JSON.stringify('x'.repeat(LIMITS.resultBytes - 2)), undefined],
  ['nothing', '', /not JSON/],
  ['words', 'done!', /not JSON/],
  ['half an object', '{"pages":', /not JSON/],
  ['two values', '1 2', /not JSON/],
  ['text a byte too long', JSON.stringify('x'.repeat(LIMITS.resultBytes - 1)), /8388609 bytes/],
  ['text too long only in bytes', JSON.stringify('€'.repeat(2_800_000)), /8400002 bytes/],
]

for (const [why, text, refused] of table) {
  test(`${why} is ${refused ? 'no result' : 'a result'}`, () => {
    const answer = refuseResult(text)
    if (refused) assert.match(answer ?? 'accepted', refused)
    else assert.equal(answer, undefined)
  })
}
