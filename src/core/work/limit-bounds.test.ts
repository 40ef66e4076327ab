import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyBounds, type LimitBounds, readBound } from './limit-bounds.ts'
import type { WorkLimits } from './work-limits.ts'

const MIB = 1024 ** 2

test('a bound is one limit, or a default and a maximum', () => {
  assert.deepEqual(readBound('memory', '1GiB', 'f'), { default: 1024 * MIB, max: 1024 * MIB })
  assert.deepEqual(readBound('cpu', '0.5..4', 'f'), { default: 0.5, max: 4 })
  const wrong = [
    '',
    '..',
    '1GiB..',
    '..1GiB',
    '2GiB..1GiB',
    '1GiB..2GiB..3GiB',
    '1..2',
    '0B',
    'much',
  ]
  for (const text of wrong) {
    assert.throws(() => readBound('memory', text, 'limit'), { field: 'limit' }, text)
  }
})

const BOUNDS: LimitBounds = {
  memory: { default: 512 * MIB, max: 2048 * MIB },
  pids: { default: 100, max: 100 },
}
const GIVEN: readonly [why: string, asked: WorkLimits | undefined, got: WorkLimits, cut: RegExp][] =
  [
    [
      'a command without limits gets the defaults',
      undefined,
      { memory_bytes: 512 * MIB, pids: 100 },
      /^$/,
    ],
    ['a lower limit is kept', { memory_bytes: MIB, pids: 5 }, { memory_bytes: MIB, pids: 5 }, /^$/],
    [
      'a limit above the default is kept',
      { memory_bytes: 1024 * MIB },
      { memory_bytes: 1024 * MIB, pids: 100 },
      /^$/,
    ],
    [
      'a limit above the maximum is lowered and reported',
      { memory_bytes: 4096 * MIB, pids: 101 },
      { memory_bytes: 2048 * MIB, pids: 100 },
      /^limits\.memory is 2 GiB, .* instead of 4 GiB\nlimits\.pids is 100, .* instead of 101$/,
    ],
    [
      'a limit without a bound is kept',
      { cpu: 64, tmp_bytes: 5 * MIB },
      { memory_bytes: 512 * MIB, cpu: 64, pids: 100, tmp_bytes: 5 * MIB },
      /^$/,
    ],
  ]
for (const [why, asked, got, cut] of GIVEN) {
  test(why, () => {
    const { limits, messages } = applyBounds(asked, BOUNDS)
    assert.deepEqual(limits, got)
    assert.match(messages.join('\n'), cut)
  })
}

test('without bounds, only requested limits apply', () => {
  assert.deepEqual(applyBounds(undefined, {}), { limits: {}, messages: [] })
})
