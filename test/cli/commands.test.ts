import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'
import { createFakeTerminal } from './fake-terminal.ts'

interface Shell {
  readonly api: OpenApi
  /** Runs a command line; resolves with its output and exit code. */
  run(...argv: string[]): Promise<{ code: number; out: string; err: string }>
  start(options: { isInteractive: boolean }, ...argv: string[]): ReturnType<typeof begin>
}

function begin(env: Record<string, string>, isInteractive: boolean, argv: readonly string[]) {
  const terminal = createFakeTerminal({ env, isInteractive, columns: 80 })
  const code = runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
  return { terminal, code }
}

async function open(
  t: TestContext,
  { withWorker = true, ...options }: { withWorker?: boolean } & Parameters<typeof openApi>[1] = {},
): Promise<Shell> {
  const api = await openApi(t, options)
  if (withWorker) await api.startWorker()
  const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  return {
    api,
    async run(...argv) {
      const { terminal, code } = begin(env, false, argv)
      return { code: await code, ...terminal.written }
    },
    start: ({ isInteractive }, ...argv) => begin(env, isInteractive, argv),
  }
}

test('exec behaves like the command itself: output, streams, exit code', async (t) => {
  const { run } = await open(t)
  const done = await run('exec', '--', 'sh', '-c', 'echo hi; echo oh >&2; exit 7')
  assert.deepEqual(done, { code: 7, out: 'hi\n', err: 'oh\n' })
  assert.equal((await run('exec', '--', 'sh', '-c', 'kill -9 $$')).code, 137)
  assert.equal((await run('exec', '--', 'true')).code, 0)
  const missing = await run('exec', '--', '/no/such')
  assert.equal(missing.code, 125)
})

test('run --wait distinguishes success, failure and cancellation', async (t) => {
  const { run, api } = await open(t)
  const failed = await run('run', '--wait', '--', 'sh', '-c', 'echo hi; exit 7')
  assert.deepEqual([failed.code, failed.out], [3, 'hi\n'])
  assert.match(failed.err, /✖ failed .*exited with code 7/)
  assert.equal((await run('run', '--wait', '--', 'true')).code, 0)
  await api.call('PUT', '/v1/jobs/hello', { body: { run: 'cat "$PUNCTUAL_INPUT"' } })
  assert.equal((await run('run', 'hello', '--wait', '-i', '{"a":1}')).out, '{"a":1}')
  const bare = await run('run', 'hello', '-o', 'json')
  assert.match((JSON.parse(bare.out) as { id: string }).id, /^run_/)
  for (const argv of [['run'], ['run', 'hello', 'world'], ['run', 'hello', '-i', '{']]) {
    assert.equal((await run(...argv)).code, 2, argv.join(' '))
  }
})

test('limits and the user of a command are shown, and why no worker runs it', async (t) => {
  const { run, api } = await open(t)
  const flags = ['--memory', '64MiB', '--cpu', '0.5', '--pids', '50', '--run-as', 'deploy']
  const { out } = await run('run', ...flags, '--', 'true')
  const { body } = await api.call<WireRun>('GET', `/v1/runs/${out.trim()}`)
  const limits = { memory_bytes: 2 ** 26, cpu: 0.5, pids: 50 }
  assert.deepEqual(body.work, { executor: 'argv', argv: ['true'], limits, run_as: 'deploy' })
  const why = await run('why', '@last')
  assert.match(why.out.replaceAll(/\s+/g, ' '), /for a worker that allows the user deploy\./)
  assert.match(why.out, /fix: {2}punctual worker --server http:\S+ --allow-user deploy/)
  await run('run', '--wait', '--', 'true')
  assert.match((await run('show', '@last')).out, /\n {2}contained by +(?:pidns|cgroup|group)\n/)
})

test('the output of a run is searched, for text or an expression', async (t) => {
  const { run } = await open(t)
  await run('exec', '--', 'sh', '-c', 'seq 1 30000; printf "Bad \\033[2Jthing\\n"')
  const grep = (...argv: string[]) => run('logs', '@last', ...argv)
  assert.deepEqual(await grep('--grep', '2999'), {
    code: 0,
    err: '',
    out: `2998: 2999\n12998: 12999\n22998: 22999\n${[...Array(10).keys()].map((n) => `${29989 + n}: ${29990 + n}\n`).join('')}`,
  })
  assert.equal((await grep('-E', '-g', '^1(23)+4$')).out, '1233: 1234\n')
  assert.deepEqual(await grep('-g', 'bad'), { code: 6, out: '', err: '' })
  assert.equal((await grep('-i', '-g', 'bad thing', '-o', 'name')).out, '30000\n')
  const [hit] = JSON.parse((await grep('-g', 'Bad', '-o', 'json')).out) as [{ text: string }]
  assert.equal(hit.text, 'Bad thing')
  const wrong = await grep('-E', '-g', 'a(')
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /missing closing \)/)
  assert.equal((await grep('-f', '-g', 'x')).code, 2)
})

test('lists are tables by default and JSON on request, even when they are empty', async (t) => {
  const { run } = await open(t)
  assert.deepEqual(await run('runs', '-o', 'json'), { code: 0, out: '[]\n', err: '' })
  assert.deepEqual((await run('runs', '-o', 'jsonl')).out, '')
  assert.match((await run('runs')).err, /No runs yet/)
  assert.match((await run('ls')).err, /No jobs are defined yet/)
  await run('exec', '--', 'true')
  await run('exec', '--', 'false')
  const table = (await run('runs')).out
  assert.ok(
    table.split('\n').every((line) => line.length <= 80),
    table,
  )
  assert.match(table, /^RUN +JOB +STATE +TOOK +CREATED +WORKER +BY\n/)
  const failed = await run('runs', 'state:failed', '-o', 'name')
  assert.match(failed.out, /^run_[0-9a-z]{11}\n$/)
  const wrong = await run('runs', 'colour:red')
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /keys are state, job/)
})

test('a run is found by the end of its id, by @last, and by its job', async (t) => {
  const { run } = await open(t)
  await run('exec', '--job', 'first', '--', 'sh', '-c', 'echo one; exit 1')
  const id = (await run('runs', '-o', 'name')).out.trim()
  await run('exec', '--', 'echo', 'two')
  assert.equal((await run('logs', '@last')).out, 'two\n')
  assert.equal((await run('logs', '@last-failed')).out, 'one\n')
  assert.equal((await run('logs', 'first@last')).out, 'one\n')
  assert.equal((await run('logs', id)).out, 'one\n')
  assert.equal((await run('logs', id.slice(-8))).out, 'one\n')
  assert.match((await run('show', id)).out, /exit code +1/)
  assert.match((await run('why', id)).out, /It failed: exited with code 1/)
  assert.equal((await run('show', 'run_00000000000')).code, 6)
  assert.equal((await run('show', 'zzzzzz')).code, 6)
  assert.equal((await run('show', 'what?')).code, 2)
  assert.equal((await run('show', 'nobody@last')).code, 6)
})

test('wait reports how the run ended, or that the time is over', async (t) => {
  const { run } = await open(t, { withWorker: false })
  await run('run', '--', 'true')
  const late = await run('wait', '@last', '--timeout', '1ms')
  assert.equal(late.code, 5)
  assert.match(late.err, /◷ ready/)
  await run('cancel', '@last')
  assert.equal((await run('wait', '@last')).code, 4)
  assert.equal((await run('cancel', '@last')).code, 9)
})

test('a retry is a new run', async (t) => {
  const { run } = await open(t)
  await run('exec', '--', 'false')
  const again = await run('retry', '@last', '-o', 'name')
  assert.match(again.out, /^run_/)
  assert.equal((await run('wait', again.out.trim())).code, 3)
})

test('pause and resume apply to a job, a queue or everything', async (t) => {
  const { run, api } = await open(t, { withWorker: false })
  await api.call('PUT', '/v1/jobs/hello', { body: { run: 'true' } })
  assert.equal((await run('pause', 'hello', '--reason', 'moving')).out, 'the job hello is paused\n')
  assert.match((await run('ls')).out, /hello +v1 +paused/)
  assert.equal((await run('resume', 'hello')).code, 0)
  assert.equal((await run('pause', '--queue', 'mail')).out, 'the queue mail is paused\n')
  assert.equal((await run('pause', '--all')).code, 0)
  assert.equal((await run('pause')).code, 2)
  assert.equal((await run('pause', 'nobody')).code, 6)
})

test('tokens are created, listed and revoked', async (t) => {
  const { run } = await open(t, { withWorker: false })
  const made = await run('token', 'create', 'ci', '--role', 'viewer', '--expires', '90d')
  const token = made.out.trim()
  assert.match(token, /^punctual_/)
  assert.equal((await run('--token', token, 'runs')).code, 0)
  assert.equal((await run('--token', token, 'exec', '--', 'true')).code, 125)
  assert.equal((await run('--token', token, 'run', 'hello')).code, 7)
  assert.match((await run('token', 'ls')).out, /tok_1 +ci +viewer/)
  assert.equal((await run('token', 'revoke', 'tok_1')).code, 0)
  assert.equal((await run('--token', token, 'runs')).code, 7)
})

test('errors are shown as text, or as the problem document', async (t) => {
  const { run } = await open(t, { withWorker: false })
  const away = await run('--server', 'http://127.0.0.1:1', 'runs')
  assert.equal(away.code, 8)
  assert.match(
    away.err,
    /no server answers at http:\/\/127\.0\.0\.1:1\n  help:  Start one with `punctual up`/,
  )
  const json = await run('show', 'run_00000000000', '-o', 'json')
  assert.equal((JSON.parse(json.err) as { code: string }).code, 'run_not_found')
  const typo = await run('cancle', '@last')
  assert.equal(typo.code, 2)
  assert.match(typo.err, /Did you mean cancel/)
  assert.equal((await run('--server', 'nowhere', 'runs')).code, 2)
  assert.deepEqual(await run('version'), { code: 0, out: '9.9.9\n', err: '' })
  const raw = await run('api', 'GET', '/v1/queues')
  assert.deepEqual(JSON.parse(raw.out), { data: [] })
})

test('Ctrl-C detaches from a run or stops it, as the user chooses', async (t) => {
  const shell = await open(t)
  const watch = async (isInteractive: boolean, answer: string) => {
    const seen = shell.start({ isInteractive }, 'exec', '--', 'sh', '-c', 'echo up; sleep 1000')
    await waitFor(() => seen.terminal.written.out === 'up\n', { what: 'the run to be up' })
    seen.terminal.interrupt(answer)
    return { code: await seen.code, err: seen.terminal.written.err }
  }
  const detached = await watch(true, 'd')
  assert.equal(detached.code, 130)
  assert.match(detached.err, /continues in the background/)
  assert.match((await shell.run('ps')).out, /▶ running/)
  assert.equal((await shell.run('cancel', '@last')).code, 0)

  const cancelled = await watch(true, 'c')
  assert.match(cancelled.err, /stopping/)
  assert.equal(cancelled.code, 143)

  assert.equal((await watch(false, 'c')).code, 130)
  await shell.run('cancel', '@last')
})

test('the doctor reports what works and what does not', async (t) => {
  const { run, api } = await open(t, { withWorker: false })
  await run('run', '--', 'true')
  const ill = await run('doctor')
  assert.equal(ill.code, 1)
  assert.match(ill.out, /✔ its database answers/)
  assert.match(ill.out, /✔ large inputs and results are kept as rows of SQLite/)
  assert.match(ill.out, /✖ no worker is connected\n  help: /)
  assert.match(ill.out, /1 run waits in the queue default, which no worker serves/)
  await api.startWorker()
  const well = await run('doctor')
  const said = well.out.replaceAll(/\s+/g, ' ')
  assert.match(
    said,
    /✔ w1 contains processes .* launcher\); limits: .*tmp; users: the worker's own/,
  )
  assert.deepEqual([well.code, well.out.includes('✖')], [0, false], well.out)
  assert.equal((await run('--server', 'http://127.0.0.1:1', 'doctor')).code, 1)
  assert.match(
    (await run('--token', 'wrong', 'doctor')).out,
    /✖ http\S+ does not accept this token/,
  )
})

test('the doctor reports where large inputs are stored, and when they cannot be', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'punctual-doctor-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const { run } = await open(t, { blobs: { place: 'fs', dataDir } })
  const place = join(dataDir, 'blobs')
  assert.ok((await run('doctor', '-o', 'json')).out.includes(`are kept in ${place}`))
  rmSync(place, { recursive: true })
  writeFileSync(place, 'not a directory')
  const { out, code } = await run('doctor', '-o', 'json')
  assert.ok(out.includes(`cannot be kept in ${place}`), out)
  assert.equal(code, 1)
})

test('large inputs and results are shown by their size, and in full to programs', async (t) => {
  const { run, api } = await open(t, { withWorker: false })
  const input = 'x'.repeat(100_000)
  await api.call('POST', '/v1/runs', { body: { job: 'large', input } })
  assert.match((await run('show', '@last')).out, /input +97\.7 KiB, shown by -o json/)
  assert.ok((await run('show', '@last', '-o', 'json')).out.includes(input))
})

test('completion scripts are printed for each shell', async (t) => {
  const { run } = await open(t, { withWorker: false })
  for (const shell of ['bash', 'zsh', 'fish']) {
    assert.match((await run('completion', shell)).out, /cancel/)
  }
  assert.equal((await run('completion', 'tcsh')).code, 2)
})
