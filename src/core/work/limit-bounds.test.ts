import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyBounds, type LimitBounds, readBound } from './limit-bounds.ts'
import type { WorkLimits } from './work-limits.ts'

const MIB = 1024 ** 2

test('a bound is one limit, or a usual one and a highest', () => {
  assert.deepEqual(readBound('memory', '1GiB', 'f'), { usual: 1024 * MIB, most: 1024 * MIB })
  assert.deepEqual(readBound('cpu', '0.5..4', 'f'), { usual: 0.5, most: 4 })
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
  memory: { usual: 512 * MIB, most: 2048 * MIB },
  pids: { usual: 100, most: 100 },
}
const GIVEN: readonly [why: string, asked: WorkLimits | undefined, got: WorkLimits, cut: RegExp][] =
  [
    [
      'who asks for nothing gets the usual',
      undefined,
      { memory_bytes: 512 * MIB, pids: 100 },
      /^$/,
    ],
    [
      'who asks for less gets less',
      { memory_bytes: MIB, pids: 5 },
      { memory_bytes: MIB, pids: 5 },
      /^$/,
    ],
    [
      'who asks for more than usual gets it',
      { memory_bytes: 1024 * MIB },
      { memory_bytes: 1024 * MIB, pids: 100 },
      /^$/,
    ],
    [
      'nobody gets more than the most, and is told',
      { memory_bytes: 4096 * MIB, pids: 101 },
      { memory_bytes: 2048 * MIB, pids: 100 },
      /^limits\.memory is 2 GiB, .* not 4 GiB\nlimits\.pids is 100, .* not 101$/,
    ],
    [
      'what has no bound is as asked',
      { cpu: 64, tmp_bytes: 5 * MIB },
      { memory_bytes: 512 * MIB, cpu: 64, pids: 100, tmp_bytes: 5 * MIB },
      /^$/,
    ],
  ]
for (const [why, asked, got, cut] of GIVEN) {
  test(why, () => {
    const { limits, remarks } = applyBounds(asked, BOUNDS)
    assert.deepEqual(limits, got)
    assert.match(remarks.join('\n'), cut)
  })
}

test('without bounds there are no limits but those asked for', () => {
  assert.deepEqual(applyBounds(undefined, {}), { limits: {}, remarks: [] })
})
