import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { runProgram } from '../../src/cli/program.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { BIN, privateEnv } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'
import { createFakeTerminal } from './fake-terminal.ts'

let api: OpenApi
let env: Record<string, string>
const cleanups: (() => void | Promise<void>)[] = []

before(async () => {
  const t = { after: (end: () => Promise<void>) => void cleanups.push(end), diagnostic() {} }
  api = await openApi(t as never)
  await api.startWorker()
  env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
})
after(async () => {
  for (const end of cleanups.toReversed()) await end()
})

async function exec(piped: Uint8Array | Promise<Uint8Array> | string, ...argv: string[]) {
  const bytes = typeof piped === 'string' ? Buffer.from(piped) : piped
  const terminal = createFakeTerminal({ env, piped: Promise.resolve(bytes) })
  const code = await runProgram(['exec', ...argv], {
    terminal,
    version: '9.9.9',
    addServerCommands: () => {},
  })
  return { code, ...terminal.written }
}

test('exec reads a pipe, a file, empty input or a closed descriptor from a shell', async () => {
  const home = mkdtempSync(join(tmpdir(), 'punctual-exec-input-'))
  cleanups.push(() => rmSync(home, { recursive: true }))
  const punctual = `"${process.execPath}" "${BIN}" exec -- cat`
  const script = `
    echo from a pipe | ${punctual}
    echo from a file > "$HOME/input"; ${punctual} < "$HOME/input"
    ${punctual} < /dev/null; echo "nothing: $?"
    ${punctual} <&-; echo "closed: $?"`
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script], {
    env: { ...privateEnv(home), ...env },
    cwd: home,
  })
  assert.equal(stdout, 'from a pipe\nfrom a file\nnothing: 0\nclosed: 0\n')
})

test('exec passes its command every byte of text, in any script, up to 1 MiB', async () => {
  const texts = ['x\n', '\uFEFFπλ 🙂\r\n\u001B', 'no end of line']
  for (const text of texts) {
    assert.deepEqual(await exec(text, '--', 'cat'), { code: 0, out: text, err: '' })
  }
  const large = await exec('é'.repeat(512 * 1024), '--', 'sh', '-c', 'wc -c')
  assert.equal(large.out.trim(), String(1024 * 1024))
  const none = await exec('', '--', 'sh', '-c', 'wc -c')
  assert.equal(none.out.trim(), '0')
  const [run] = (await api.call<{ data: WireRun[] }>('GET', '/v1/runs?limit=1')).body.data
  assert.deepEqual(run?.work, { executor: 'argv', argv: ['sh', '-c', 'wc -c'], cwd: '/' })
})

test('a retry of exec has the same input', async () => {
  await exec('again', '--job', 'reader', '--', 'sh', '-c', 'cat; exit 3')
  const terminal = createFakeTerminal({ env })
  const options = { terminal, version: '9.9.9', addServerCommands: () => {} }
  await runProgram(['retry', 'reader@last', '-o', 'name'], options)
  const id = terminal.written.out.trim()
  const seen = createFakeTerminal({ env })
  await runProgram(['logs', '-f', id], { ...options, terminal: seen })
  assert.equal(seen.written.out, 'again')
})

test('input that is too large or not text is refused before anything runs', async () => {
  const refusals: [Uint8Array, RegExp][] = [
    [Buffer.alloc(1024 * 1024 + 1, 'x'), /✖ standard input is more than 1 MiB\n +help: +Put /],
    [
      Buffer.from([0x68, 0xff]),
      /✖ standard input is not text in UTF-8\n +help: +Encode it, such as: base64 /,
    ],
    [Buffer.from('a\0b'), /✖ standard input is not text in UTF-8/],
  ]
  for (const [bytes, expected] of refusals) {
    const { code, out, err } = await exec(bytes, '--job', 'refused', '--', 'cat')
    assert.deepEqual([code, out], [125, ''])
    assert.match(err, expected)
  }
  const { body } = await api.call<{ data: unknown[] }>('GET', '/v1/runs?job=refused')
  assert.deepEqual(body.data, [])
})

test('a pipe that stays open is reported after a while, and --no-stdin does not read it', async () => {
  const never = new Promise<Uint8Array>(() => {})
  const ignoring = await exec(never, '--no-stdin', '--', 'cat')
  assert.deepEqual(ignoring, { code: 0, out: '', err: '' })

  const { promise, resolve } = Promise.withResolvers<Uint8Array>()
  const terminal = createFakeTerminal({ env, piped: promise })
  const argv = ['exec', '--', 'cat']
  const code = runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
  await waitFor(
    () => {
      terminal.passTime()
      return /reading standard input to its end; --no-stdin skips/.test(terminal.written.err)
    },
    { what: 'the line about the pipe' },
  )
  resolve(Buffer.from('at last'))
  assert.equal(await code, 0)
  assert.equal(terminal.written.out, 'at last')
})
