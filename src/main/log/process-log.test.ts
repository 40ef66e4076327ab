import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import { createLogOutput } from './log-output.ts'
import { createProcessLog } from './process-log.ts'

function open(format: 'text' | 'json') {
  const written = { out: '', err: '' }
  const clock = createVirtualClock()
  const log = createProcessLog({
    format,
    now: () => Date.UTC(2026, 0, 31, 9),
    later: (ms, then) => void clock.sleep(ms).then(then),
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
  })
  return { log, written, clock }
}

test('the start message is text for people, or one record in JSON mode', () => {
  const record = { message: 'the server is ready', fields: { url: 'http://127.0.0.1:1' } }
  const text = open('text')
  text.log.announce('Punctual is ready.\n  address …\n', record)
  assert.deepEqual(text.written, { out: 'Punctual is ready.\n  address …\n', err: '' })
  const json = open('json')
  json.log.announce('Punctual is ready.\n', record)
  json.log.notice('SIGTERM, stopping')
  assert.equal(json.written.out, '')
  const records = json.written.err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  const at = { time: '2026-01-31T09:00:00.000Z', level: 'info' }
  assert.deepEqual(records, [
    { ...at, msg: 'the server is ready', url: 'http://127.0.0.1:1' },
    { ...at, msg: 'SIGTERM, stopping' },
  ])
})

test('a repeated failure is written once in ten seconds, then the number of repetitions', async () => {
  const { log, written, clock } = open('text')
  for (let i = 0; i < 50; i += 1) log.survived(new Error('the database is away'))
  log.survived(new Error('another failure'))
  assert.equal(written.err.match(/: the database is away/g)?.length, 1)
  assert.equal(written.err.match(/: another failure/g)?.length, 1)
  await clock.advance(10_000)
  assert.match(written.err, /: the database is away \(repeated=49\)/)
})

test('lines that cannot be written are dropped and counted, and a full disk does not end the process', () => {
  const lines: string[] = []
  let room = Infinity
  const write = ((_fd: number, bytes: Buffer) => {
    if (room === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    const count = Math.min(room, bytes.length)
    room -= count
    lines.push(bytes.toString('utf8', 0, count))
    return count
  }) as never
  const output = createLogOutput(2, { write, onDropped: (count) => `${count} lost\n` })
  output('one\n')
  room = 2
  output('two\n')
  output('three\n')
  output('four\n')
  room = Infinity
  output('five\n')
  assert.equal(lines.join(''), 'one\ntwo\n2 lost\nfive\n')
})
