import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bytesOf, type Entry } from '../../core/output.ts'
import { Output } from './output.ts'

function create(limitBytes = 1_000_000_000) {
  const rooms: boolean[] = []
  const output = new Output({ limitBytes, onChange() {}, onRoom: (room) => rooms.push(room) })
  const sent: Entry[] = []
  /** Sends everything that can be sent, as a server that stores it all. */
  const ship = () => {
    for (let chunk = output.next(); chunk; chunk = output.next()) {
      sent.push(...chunk.entries)
      output.stored(chunk.chunk + 1)
    }
  }
  return { output, rooms, sent, ship }
}

const write = (output: Output, stream: 1 | 2, ms: number, text: string) =>
  output.push(stream, ms, Buffer.from(text, 'latin1'))

test('little output is the last chunk, and nothing is sent', () => {
  const { output } = create()
  write(output, 1, 2.4, 'hi\n')
  write(output, 2, 3, 'oh')
  output.end(5)
  assert.equal(output.next(), undefined)
  assert.deepEqual(output.summary(), {
    chunks: 1,
    bytes: 5,
    last: [
      [2, 1, 'hi\n'],
      [5, 2, 'oh'],
    ],
  })
})

test('no output is no chunk', () => {
  const { output } = create()
  assert.equal(output.summary(), undefined)
  output.end(1)
  assert.deepEqual(output.summary(), { chunks: 0, bytes: 0 })
})

test('lines stay whole, whatever pieces they come in, and streams do not mix', () => {
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

test('a character that is not complete is not torn apart by a flush', () => {
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

test('a chunk is the same until it is stored', () => {
  const { output } = create()
  write(output, 1, 1, 'a\n')
  const first = output.next()
  write(output, 1, 2, 'b\n')
  assert.deepEqual(output.next(), first)
  output.stored(7)
  assert.deepEqual(output.next(), first)
  output.stored(1)
  assert.deepEqual(output.next(), { chunk: 1, entries: [[2, 1, 'b\n']] })
})

test('a process that prints faster than it can be sent is held up, and let go again', () => {
  const { output, rooms, ship } = create()
  const megabyte = 'x'.repeat(1023) + '\n'
  for (let i = 0; i < 1_100; i += 1) write(output, 1, i, megabyte)
  assert.deepEqual(rooms, [false])
  ship()
  assert.deepEqual(rooms, [false, true])
})

test('of too much, the beginning and the end are kept, and what is missing is counted', () => {
  const { output, sent, ship } = create(100_000)
  for (let i = 0; i < 30_000; i += 1) write(output, 1, i, `${String(i).padStart(9)}\n`)
  output.end(30_000)
  ship()
  const summary = output.summary()
  const text = [...sent, ...(summary?.last ?? [])].map(([, , part]) => part).join('')
  const lines = text.split('\n').filter((line) => line !== '')
  assert.equal(summary?.bytes, 300_000)
  assert.equal(lines[0], '        0')
  assert.equal(lines.at(-1), '    29999')
  const kept = 300_000 - (summary?.dropped ?? 0)
  assert.ok(kept >= 100_000 && kept < 200_000)
  assert.ok(text.includes(`… ${summary?.dropped} bytes were left out here …\n`))
  assert.equal(Buffer.byteLength(text.replace(/… \d+ bytes were left out here …\n/, '')), kept)
})

test('whatever is printed in whatever pieces comes out as it was, stream by stream', () => {
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
