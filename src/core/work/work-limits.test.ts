import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PunctualError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import {
  isLimitName,
  LIMIT_NAMES,
  type LimitsInput,
  limitsFrom,
  readLimit,
  readLimits,
  showLimit,
  type WorkLimits,
  writeLimits,
} from './work-limits.ts'

const READ: readonly [why: string, input: LimitsInput, limits: WorkLimits | undefined][] = [
  ['nothing is limited', {}, undefined],
  ['memory', { memory: '512MiB' }, { memory_bytes: 536_870_912 }],
  ['memory in thousands', { memory: '1.5GB' }, { memory_bytes: 1_500_000_000 }],
  ['half a core', { cpu: 0.5 }, { cpu: 0.5 }],
  [
    'everything',
    { memory: '1GiB', cpu: 2, pids: 200, files: 1024, output: '64MiB', tmp: '1GiB' },
    {
      memory_bytes: 2 ** 30,
      cpu: 2,
      pids: 200,
      files: 1024,
      output_bytes: 2 ** 26,
      tmp_bytes: 2 ** 30,
    },
  ],
  [
    'the minimum',
    { memory: '1MiB', cpu: 0.01, pids: 1 },
    { memory_bytes: 2 ** 20, cpu: 0.01, pids: 1 },
  ],
  ['the maximum number of processes', { pids: LIMITS.maxPids }, { pids: LIMITS.maxPids }],
]
for (const [why, input, limits] of READ) {
  test(`limits: ${why}`, () => {
    assert.deepEqual(readLimits(input), limits)
    assert.deepEqual(readLimits(writeLimits(limits) ?? {}), limits)
  })
}

const REFUSED: readonly [why: string, input: Record<string, unknown>, field: string][] = [
  ['no memory', { memory: '0B' }, 'memory'],
  ['memory nothing can start in', { memory: '1023KiB' }, 'memory'],
  ['memory no machine has', { memory: '65537GiB' }, 'memory'],
  ['negative memory', { memory: '-1MiB' }, 'memory'],
  ['memory without a unit', { memory: '512' }, 'memory'],
  ['memory that is a number', { memory: 536_870_912 }, 'memory'],
  ['memory without end', { memory: 'Infinity' }, 'memory'],
  ['no core', { cpu: 0 }, 'cpu'],
  ['less than no core', { cpu: -1 }, 'cpu'],
  ['less of a core than can be given', { cpu: 0.009 }, 'cpu'],
  ['more cores than there are', { cpu: 1_025 }, 'cpu'],
  ['cores that are no number', { cpu: Number.NaN }, 'cpu'],
  ['endless cores', { cpu: Number.POSITIVE_INFINITY }, 'cpu'],
  ['no process', { pids: 0 }, 'pids'],
  ['a negative number of processes', { pids: -5 }, 'pids'],
  ['half a process', { pids: 1.5 }, 'pids'],
  ['more processes than Linux counts', { pids: LIMITS.maxPids + 1 }, 'pids'],
  ['too few files to start', { files: 3 }, 'files'],
  ['more files than Linux lets open', { files: LIMITS.maxFiles + 1 }, 'files'],
  ['no output', { output: '0B' }, 'output'],
  ['more output than a server should hold', { output: '17GiB' }, 'output'],
  ['a temporary directory for nothing', { tmp: '0KiB' }, 'tmp'],
]
for (const [why, input, field] of REFUSED) {
  test(`rejects ${why} and names the limit`, () => {
    assert.throws(
      () => readLimits(input, 'runs.3.limits'),
      (error) => {
        assert.ok(error instanceof PunctualError)
        assert.deepEqual([error.code, error.field], ['invalid_field', `runs.3.limits.${field}`])
        assert.ok(error.message.length < 200)
        return true
      },
    )
  })
}

test('reads limits from the command line like fields of a job', () => {
  assert.equal(readLimit('cpu', '1.5', 'cpu'), 1.5)
  assert.equal(readLimit('pids', '200', 'pids'), 200)
  assert.equal(readLimit('memory', '1GiB', 'memory'), 2 ** 30)
  for (const word of ['', '-1', '1e3', '0x10', ' 5', '1.5', '٣', '9'.repeat(400)]) {
    assert.throws(() => readLimit('pids', word, 'pids'), { code: 'invalid_field' }, word)
  }
})

test('shows a limit as users write it', () => {
  assert.equal(showLimit('memory', 536_870_912), '512 MiB')
  assert.equal(showLimit('cpu', 0.5), '0.5')
  assert.ok(isLimitName('tmp'))
  assert.ok(!isLimitName('toString'))
})

test('a written limit reads as the same', () => {
  const numbers = fc.record(
    {
      memory: fc.integer({ min: LIMITS.minMemoryBytes, max: LIMITS.maxAttemptBytes }),
      cpu: fc.integer({ min: 1, max: 100_000 }).map((part) => part / 100),
      pids: fc.integer({ min: 1, max: LIMITS.maxPids }),
      tmp: fc.integer({ min: 1, max: 2 ** 20 }).map((blocks) => blocks * 4096),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(numbers, (some) => {
      const limits = limitsFrom(some)
      assert.deepEqual(readLimits(writeLimits(limits) ?? {}) ?? {}, limits)
    }),
  )
  assert.equal(LIMIT_NAMES.length, 6)
})
