import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLabel } from './labels.ts'

const READ: readonly [text: string, labels: Record<string, string>][] = [
  ['gpu=a100', { gpu: 'a100' }],
  ['gpu', { gpu: 'true' }],
  ['image=registry/app:1.2', { image: 'registry/app:1.2' }],
]
for (const [text, labels] of READ) {
  test(`--label ${text} is ${JSON.stringify(labels)}`, () => {
    assert.deepEqual(readLabel(text, { zone: 'eu' }), { zone: 'eu', ...labels })
    assert.deepEqual(readLabel(text, labels), labels, 'the same label twice is one')
  })
}

for (const text of ['', '=a100', 'gpu=', 'gpu a100', 'gpu=a=b', ' gpu', 'é', 'x'.repeat(200)]) {
  test(`rejects --label "${text.slice(0, 20)}"`, () => {
    assert.throws(() => readLabel(text), {
      code: 'invalid_field',
      field: '--label',
      message: /is not a label/,
      hint: /name=value/,
    })
  })
}

test('rejects two values for the same label', () => {
  assert.throws(() => readLabel('gpu=h100', { gpu: 'a100' }), {
    message: '--label: the label gpu is both a100 and h100',
  })
})
