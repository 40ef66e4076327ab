import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bytesOf, type OutputEntry } from '../../core/run/output.ts'
import type { OutputMarker } from '../../core/text/markers.ts'
import { Output } from './output.ts'

function create(limitBytes = 1_000_000_000) {
  const pauses: boolean[] = []
  const output = new Output({
    limitBytes,
    onChange() {},
    onBackpressure: (isPaused) => pauses.push(isPaused),
  })
  const sent: OutputEntry[] = []
  /** Sends everything that can be sent, to a server that stores it all. */
  const ship = () => {
    for (let some = output.next(500_000); some.length > 0; some = output.next(500_000)) {
      for (const { chunk, entries } of some) {
        sent.push(...entries)
        output.stored(chunk + 1)
      }
    }
  }
  return { output, pauses, sent, ship }
}

const write = (output: Output, stream: 1 | 2, ms: number, text: string) =>
  output.push(stream, ms, Buffer.from(text, 'latin1'))

test('little output fits into the last chunk, and nothing is sent', () => {
  const { output } = create()
  write(output, 1, 2.4, 'hi\n')
  write(output, 2, 3, 'oh')
  output.end(5)
  assert.deepEqual(output.next(), [])
  assert.deepEqual(output.summary(), {
    chunks: 1,
    bytes: 5,
    last: [
      [2, 1, 'hi\n'],
      [5, 2, 'oh'],
    ],
  })
})

test('without output there is no chunk', () => {
  const { output } = create()
  assert.equal(output.summary(), undefined)
  output.end(1)
  assert.deepEqual(output.summary(), { chunks: 0, bytes: 0 })
})

test('lines stay whole however they are split, and streams do not mix', () => {
  const { output, sent, ship } = create()
  write(output, 1, 1, 'one\ntw')
  write(output, 2, 2, 'err')
  write(output, 1, 3, 'o\nthree\nfo')
  ship()
  assert.deepEqual(sent, [
    [1, 1, 'one\n'],
    [3, 1, 'two\nthree\n'],
  ])
  output.flush(4)
  ship()
  assert.deepEqual(sent.slice(2), [
    [4, 1, 'fo'],
    [4, 2, 'err'],
  ])
})

test('a flush does not split an incomplete character', () => {
  const { output, sent, ship } = create()
  const bytes = Buffer.from('a€')
  output.push(1, 1, bytes.subarray(0, 2))
  output.flush(2)
  output.push(1, 3, bytes.subarray(2))
  output.flush(4)
  ship()
  assert.deepEqual(sent, [
    [2, 1, 'a'],
    [4, 1, '€'],
  ])
})

test('a chunk does not change until it is stored', () => {
  const { output } = create()
  write(output, 1, 1, 'a\n')
  const first = output.next()
  write(output, 1, 2, 'b\n')
  assert.deepEqual(output.next(), first)
  output.stored(7)
  assert.deepEqual(output.next(), first)
  output.stored(1)
  assert.deepEqual(output.next(), [{ chunk: 1, entries: [[2, 1, 'b\n']] }])
})

test('more chunks are sent at once if there are more, in order, and sent ones do not change', () => {
  const { output } = create()
  const line = `${'x'.repeat(89_999)}\n`
  for (let i = 0; i < 8; i += 1) write(output, 1, i, line)
  const first = output.next(500_000)
  assert.deepEqual(
    first.map(({ chunk, entries }) => [chunk, entries.length]),
    [
      [0, 2],
      [1, 2],
    ],
  )
  output.stored(1)
  const rest = output.next(500_000)
  assert.deepEqual(rest[0], first[1])
  assert.deepEqual(
    rest.map(({ chunk }) => chunk),
    [1, 2],
  )
})

test('a process that prints faster than the worker can send is paused and resumed', () => {
  const { output, pauses, ship } = create()
  const megabyte = 'x'.repeat(1023) + '\n'
  for (let i = 0; i < 1_100; i += 1) write(output, 1, i, megabyte)
  assert.deepEqual(pauses, [true])
  ship()
  assert.deepEqual(pauses, [true, false])
})

/** Everything that was kept of a stream, in order, and the summary of the output. */
function finish({ output, sent, ship }: ReturnType<typeof create>, ms = 0) {
  output.end(ms)
  ship()
  const summary = output.summary()
  const all = [...sent, ...(summary?.last ?? [])]
  const kept = Buffer.concat(all.filter(([, stream]) => stream !== 0).map((e) => bytesOf(e[2])))
  const workerLines = all.filter(([, stream]) => stream === 0).map(([, , text]) => text)
  return { summary, kept, workerLines }
}

test('of too much output, the beginning and the end are kept exactly, and the dropped bytes are counted', () => {
  const one = create(100_000)
  for (let i = 0; i < 30_000; i += 1) write(one.output, 1, i, `${String(i).padStart(9)}\n`)
  const { summary, kept, workerLines } = finish(one, 30_000)
  assert.deepEqual([summary?.bytes, summary?.dropped, kept.length], [300_000, 200_000, 100_000])
  assert.deepEqual(workerLines, ['… 200000 bytes were left out here …\n'])
  const all = Array.from({ length: 30_000 }, (_, i) => `${String(i).padStart(9)}\n`).join('')
  // The end is at most half of the limit.
  assert.equal(kept.toString(), all.slice(0, 50_000) + all.slice(-50_000))
})

test('output of exactly the limit is kept whole, without a note', () => {
  for (const [bytes, dropped] of [
    [99_999, undefined],
    [100_000, undefined],
    [100_001, 1],
  ] as const) {
    const one = create(100_000)
    for (let at = 0; at < bytes; at += 7) {
      write(one.output, at % 2 === 0 ? 1 : 2, at, 'x'.repeat(Math.min(7, bytes - at)))
    }
    const { summary, kept, workerLines } = finish(one)
    assert.deepEqual([summary?.dropped, kept.length], [dropped, Math.min(bytes, 100_000)])
    assert.equal(workerLines.length, dropped === undefined ? 0 : 1)
  }
})

test('for any output, kept and dropped bytes add up to what was printed', () => {
  const piece = fc.record({ stream: fc.constantFrom(1 as const, 2 as const), size: fc.nat(3_000) })
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 40 }),
      fc.integer({ min: 1, max: 9_000 }),
      (all, limit) => {
        const one = create(limit)
        for (const [ms, { stream, size }] of all.entries()) {
          one.output.push(stream, ms, Buffer.alloc(size, `${ms}\n`))
        }
        const { summary, kept } = finish(one)
        const printed = all.reduce((sum, { size }) => sum + size, 0)
        assert.equal(kept.length, Math.min(printed, limit))
        assert.equal(kept.length + (summary?.dropped ?? 0), printed)
      },
    ),
  )
})

test('a dropped gigabyte uses no memory', () => {
  const { output } = create(1_000)
  const megabyte = Buffer.alloc(1024 * 1024, 'x')
  for (let i = 0; i < 1_024; i += 1) output.push(1, i, megabyte)
  output.end(1)
  assert.equal(output.summary()?.dropped, 1024 ** 3 - 1_000)
})

test('markers are recognised in dropped output, too', () => {
  const marks: OutputMarker[] = []
  const output = new Output({
    limitBytes: 100,
    onChange() {},
    onBackpressure() {},
    onMark: (mark) => marks.push(mark),
  })
  write(output, 1, 1, `${'x'.repeat(5_000)}\n::progress:: 1/2\n`)
  write(output, 2, 2, '::error::oh')
  write(output, 1, 3, 'y'.repeat(5_000))
  output.end(4)
  assert.deepEqual(marks, [
    { kind: 'progress', fraction: 0.5, text: '' },
    { kind: 'error', text: 'oh' },
  ])
})

test('for any output and splits, each stream arrives as it was printed', () => {
  const piece = fc.record({
    stream: fc.constantFrom(1 as const, 2 as const),
    bytes: fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(Buffer.from('\n'), Buffer.from('é\n€'), Buffer.alloc(20_000, 'x')),
    ),
    flush: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const { output, sent, ship } = create()
      for (const [ms, { stream, bytes, flush }] of pieces.entries()) {
        output.push(stream, ms, Buffer.from(bytes))
        if (flush) output.flush(ms)
        if (ms % 3 === 0) ship()
      }
      output.end(pieces.length)
      ship()
      const all = [...sent, ...(output.summary()?.last ?? [])]
      for (const stream of [1, 2]) {
        const given = Buffer.concat(pieces.filter((p) => p.stream === stream).map((p) => p.bytes))
        const came = all.filter((entry) => entry[1] === stream).map(([, , text]) => bytesOf(text))
        assert.deepEqual(Buffer.concat(came), given)
      }
    }),
  )
})

test('the answer to a repeated message covers all chunks stored by then', () => {
  const { output } = create()
  const line = `${'x'.repeat(89_999)}\n`
  for (let i = 0; i < 8; i += 1) write(output, 1, i, line)
  assert.equal(output.next(500_000).length, 2)
  output.stored(2)
  output.stored(2)
  assert.deepEqual(
    output.next(500_000).map(({ chunk }) => chunk),
    [2, 3],
  )
})
