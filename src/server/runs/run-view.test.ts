import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readResult } from './run-view.ts'

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

const table: [why: string, text: string, shown: unknown][] = [
  ['JSON is shown as what it says', '{"pages":[1,null]}', { pages: [1, null] }],
  ['text that is no JSON is shown as text', 'three pages', 'three pages'],
  ['so is nothing', '', ''],
  ['and JSON that was cut off', '{"pages":', '{"pages":'],
  ['what is nested as deep as allowed is shown', nested(500), JSON.parse(nested(500))],
  ['what is nested deeper is text', nested(501), nested(501)],
  ['what would exhaust a writer is text', nested(32_000), nested(32_000)],
  ['a long flat result is no trouble', JSON.stringify('x'.repeat(9_000)), 'x'.repeat(9_000)],
]
for (const [why, text, shown] of table) {
  test(why, () => assert.deepEqual(readResult(text), shown))
}
