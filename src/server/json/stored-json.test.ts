import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStoredJson } from './stored-json.ts'
import { textWith } from '../runs/draft-runs.ts'

/** A clock that moves on by one slice whenever it is read. */
let now = 0
const clock = { mono: () => (now += 20) }

test('a large stored text is parsed in slices and gives the same value as JSON.parse', async () => {
  const pad = Array.from({ length: 200_000 }, (_, nth) => nth)
  for (const text of [
    JSON.stringify({ pad, text: 'x'.repeat(300_000) }),
    `{"pad":${JSON.stringify(pad)},"__proto__":{"a":1},"b":${JSON.stringify(pad)}}`,
    `{"pad":${JSON.stringify(pad)},"__proto__":${JSON.stringify(pad)}}`,
    `${'['.repeat(200)}${JSON.stringify(pad)}${']'.repeat(200)}`,
    '{"small":1}',
  ]) {
    let turns = 0
    let isOver = false
    const others = (async () => {
      for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve))
    })()
    const value = await readStoredJson(text, clock)
    isOver = true
    await others
    assert.deepEqual(value, JSON.parse(text))
    assert.equal(JSON.stringify(value), text)
    if (text.startsWith('{"pad')) assert.ok(turns > 10, `others had ${turns} turns`)
  }
})

test('the text for a digest does not depend on whether its input was written before', () => {
  for (const object of [
    { job: 'a', input: { b: [1, 'é"'] }, queue: undefined, tags: { c: 'd' } },
    { input: null, job: 'a' },
    { input: 'text' },
  ]) {
    assert.equal(textWith(object, JSON.stringify(object.input)), JSON.stringify(object))
  }
})
