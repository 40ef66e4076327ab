import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createFrameReader } from './frames.ts'
import { OUTPUT_FRAMES, readReport, reportFrame } from './report-frames.ts'
import type { LauncherReport } from './messages.ts'

const report: fc.Arbitrary<LauncherReport> = fc.oneof(
  fc.record({ report: fc.constant('refused' as const), message: fc.string() }),
  fc.record({
    report: fc.constant('output' as const),
    child: fc.nat(3),
    stream: fc.constantFrom(1 as const, 2 as const),
    ms: fc.nat(1_000),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  }),
)

/** Joins consecutive output of one process, stream and time: the split does not matter. */
function joined(reports: readonly LauncherReport[]): string[] {
  const shown: { key: string; bytes: string }[] = []
  for (const one of reports) {
    const bytes = one.report === 'output' ? one.bytes.toString('hex') : ''
    const key = JSON.stringify({ ...one, bytes: undefined })
    const last = shown.at(-1)
    if (one.report === 'output' && last?.key === key) last.bytes += bytes
    else shown.push({ key, bytes })
  }
  return shown.map(({ key, bytes }) => `${key} ${bytes}`)
}

test('all reports arrive in order, however the stream is split', () => {
  fc.assert(
    fc.property(fc.array(report), fc.array(fc.integer({ min: 1, max: 50 })), (sent, cuts) => {
      const came: LauncherReport[] = []
      const read = createFrameReader(
        (kind, content) => came.push(readReport(kind, content, 'node')),
        OUTPUT_FRAMES,
      )
      let rest = Buffer.concat(sent.map((one) => Buffer.from(reportFrame(one))))
      for (const cut of [...cuts, rest.length]) {
        read(rest.subarray(0, cut))
        rest = rest.subarray(cut)
      }
      assert.deepEqual(joined(came), joined(sent))
    }),
  )
})

test('output is passed on without a copy', () => {
  const parts: Buffer[] = []
  const read = createFrameReader((kind, content) => {
    const one = readReport(kind, content, 'node')
    if (one.report === 'output') parts.push(one.bytes)
  }, OUTPUT_FRAMES)
  const bytes = Buffer.alloc(100_000, 'x')
  const frame = reportFrame({ report: 'output', child: 1, stream: 1, ms: 1, bytes })
  const pieces = [frame.subarray(0, 50_000), frame.subarray(50_000)]
  for (const piece of pieces) read(piece)
  assert.equal(Buffer.concat(parts).length, bytes.length)
  for (const [index, part] of parts.entries()) assert.equal(part.buffer, pieces[index]?.buffer)
})

test('an impossible length means that the stream is not the protocol', () => {
  const read = createFrameReader(() => {})
  assert.throws(() => read(Buffer.from('HTTP/1.1 400 Bad Request')), /a frame of \d+ bytes/)
})
