import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import type { SubmitAnswer } from '../../src/core/wire/protocol.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'
import { createFakeTerminal } from './fake-terminal.ts'

let api: OpenApi
let env: Record<string, string>
let stateDirectory: string
const cleanups: (() => void | Promise<void>)[] = []

before(async () => {
  const t = { after: (end: () => Promise<void>) => void cleanups.push(end), diagnostic() {} }
  api = await openApi(t as never)
  await api.startWorker()
  env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  stateDirectory = mkdtempSync(join(tmpdir(), 'punctual-logs-'))
  await api.call('PUT', '/v1/jobs/check', { body: { steps: { look: { run: 'echo looked' } } } })
  await api.call('PUT', '/v1/jobs/etl', { body: ETL })
  await punctual('run', 'etl', '--wait')
})
after(async () => {
  for (const end of cleanups.toReversed()) await end()
  rmSync(stateDirectory, { recursive: true })
})

/** Step names whose alphabetical order is not the order in which they run. */
const ETL = {
  steps: {
    c_extract: { run: 'printf extracted' },
    b_load: {
      needs: 'c_extract',
      each: ['eu', 'us'],
      max_parallel: 1,
      run: 'echo loading "$REGION"',
      env: { REGION: '${{ item }}' },
    },
    a_check: { needs: 'b_load', job: 'check' },
    report: { needs: 'a_check', run: 'printf "no end of line"' },
    never: { needs: 'report', if: '${{ false }}', run: 'echo never' },
  },
}

async function punctual(...argv: string[]) {
  const terminal = createFakeTerminal({ env, columns: 80, stateDirectory })
  const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
  return { code, ...terminal.written }
}

/** Without parts that differ from run to run. */
const plain = (text: string) => text.replaceAll(/ {2}run_\w{11}$/gm, '')

test('the log of a workflow has the logs of its steps, in start order', async () => {
  const { code, out, err } = await punctual('logs', 'etl')
  assert.deepEqual(
    [code, plain(out), err],
    [
      0,
      `==> c_extract <==
extracted
==> b_load[0] <==
loading eu
==> b_load[1] <==
loading us
==> a_check/look <==
looked
==> report <==
no end of line`,
      '',
    ],
  )
})

test('--step shows one step, and refuses a run without steps', async () => {
  assert.equal(
    plain((await punctual('logs', 'etl', '--step', 'report')).out),
    '==> report <==\nno end of line',
  )
  const items = await punctual('logs', 'etl@last', '--step', 'b_load')
  assert.match(items.out, /loading eu\n==> b_load\[1\]/)
  const item = await punctual('logs', 'etl@last', '--step', 'b_load[1]')
  assert.equal(plain(item.out), '==> b_load[1] <==\nloading us\n')
  assert.match((await punctual('logs', '-f', 'etl', '--step', 'b_load[0]')).out, /eu\n$/)
  for (const none of ['b_load[2]', 'report[0]']) {
    const { code, err } = await punctual('logs', 'etl', '--step', none)
    assert.equal(code, 6)
    assert.match(err, /✖ step \w+ of run_\w+ has no item \d\n {2}next: {2}punctual steps run_/)
  }
  const wrong = await punctual('logs', 'etl', '--step', 'b_laod')
  assert.equal(wrong.code, 6)
  const never = await punctual('logs', 'etl', '--step', 'never')
  assert.deepEqual([never.code, never.out], [0, ''])
  assert.match(never.err, /^never of run_\w+ never started, so it printed nothing/)
  const noSteps = await punctual('exec', '--job', 'plain', '--', 'echo', 'hi')
  assert.equal(noSteps.code, 0)
  const refused = await punctual('logs', 'plain', '--step', 'x')
  assert.equal(refused.code, 2)
  assert.match(refused.err, /is not a workflow: it has no steps\n {2}next: {2}punctual logs run_/)
})

test("the end of a workflow's log, and search results in it, name the steps", async () => {
  assert.equal(
    plain((await punctual('logs', 'etl', '-n', '3')).out),
    '==> b_load[1] <==\nloading us\n==> a_check/look <==\nlooked\n==> report <==\nno end of line\n',
  )
  const found = await punctual('logs', 'etl', '--grep', 'loading')
  assert.equal(
    plain(found.out),
    '==> b_load[0] <==\n0: loading eu\n==> b_load[1] <==\n0: loading us\n',
  )
  const hits = JSON.parse((await punctual('logs', 'etl', '-g', 'looked', '-o', 'json')).out) as {
    step: string
    text: string
  }[]
  assert.deepEqual(
    hits.map(({ step, text }) => [step, text]),
    [['a_check/look', 'looked']],
  )
  assert.equal((await punctual('logs', 'etl', '-g', 'nowhere')).code, 6)
})

test('a workflow is followed from step to step until it has ended', async () => {
  const slow = {
    steps: {
      first: { run: 'echo one' },
      second: { needs: 'first', approve: {} },
      third: { needs: 'second', run: 'echo three' },
    },
  }
  await api.call('PUT', '/v1/jobs/slow', { body: slow })
  const { out: id } = await punctual('run', 'slow', '-o', 'name')
  const terminal = createFakeTerminal({ env, columns: 80 })
  const argv = ['logs', '-f', id.trim()]
  const code = runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
  await waitFor(() => terminal.written.out.endsWith('one\n'), { what: 'the first step' })
  await waitFor(async () => (await punctual('approve', id.trim())).code === 0, {
    what: 'the question',
  })
  assert.equal(await code, 0)
  assert.equal(plain(terminal.written.out), '==> first <==\none\n==> third <==\nthree\n')
})

test('a run without output says why, and a retried run shows its earlier output', async () => {
  const { out: waiting } = await punctual('run', '--queue', 'nowhere', '--', 'true')
  const nothing = await punctual('logs', waiting.trim())
  assert.deepEqual([nothing.code, nothing.out], [0, ''])
  assert.match(
    nothing.err,
    /has not started, so it printed nothing; the run is ◷ ready\n {2}next: {2}punctual why run_/,
  )
  await punctual('cancel', waiting.trim())
  const { err } = await punctual('logs', waiting.trim())
  assert.match(err, /^run_\w+ never started, so it printed nothing; the run is ⊘ cancelled\n/)
  const body = { run: 'echo tried; exit 1', retry: { max: 1, delay: '1h', jitter: 0 } }
  await api.call('PUT', '/v1/jobs/flaky', { body })
  const { body: submitted } = await api.call<SubmitAnswer>('POST', '/v1/runs', {
    body: { job: 'flaky' },
  })
  await waitFor(
    async () => (await api.call('GET', `/v1/runs/${submitted.id}`)).body['state'] === 'scheduled',
    { what: 'the wait for the second attempt' },
  )
  // The second attempt has a number but has not started.
  assert.match(
    (await punctual('show', 'flaky@last')).out,
    /^ {4}1 {2}retried .*\n {4}2 {2}waiting$/m,
  )
  assert.equal((await punctual('logs', 'flaky')).out, 'tried\n')
  assert.equal((await punctual('logs', 'flaky', '-n', '1')).out, 'tried\n')
  const wrong = await punctual('logs', 'flaky', '--attempt', '7')
  assert.equal(wrong.code, 6)
  assert.match(wrong.err, /✖ run_\w+ has had 1 attempt, and no attempt 7\n/)
  const bare = await punctual('logs', 'etl', '--attempt', '1')
  assert.deepEqual([bare.code, /needs --step/.test(bare.err)], [2, true])
})

test('@last is the last run of this user, not a later one of a schedule', async () => {
  await punctual('exec', '--', 'echo', 'mine')
  await api.call('POST', '/v1/runs', { body: { argv: ['echo', 'of a schedule'] } })
  assert.equal((await punctual('logs', '@last')).out, 'mine\n')
  const { out: retried } = await punctual('retry', '@last', '-o', 'name')
  assert.equal((await punctual('show', '@last', '-o', 'name')).out, retried)
  // A user without runs of their own gets the newest.
  const other = createFakeTerminal({ env, columns: 80 })
  const newest = (await punctual('runs', '-n', '1', '-o', 'name')).out
  await runProgram(['show', '@last', '-o', 'name'], {
    terminal: other,
    version: '',
    addServerCommands: () => {},
  })
  assert.equal(other.written.out, newest)
  // A run that the server no longer knows is ignored.
  const elsewhere = await openApi({
    after: (end: () => Promise<void>) => void cleanups.push(end),
    diagnostic() {},
  } as never)
  await elsewhere.call('POST', '/v1/runs', { body: { argv: ['true'] } })
  const there = createFakeTerminal({
    env: { PUNCTUAL_SERVER: elsewhere.url, PUNCTUAL_TOKEN: ROOT_TOKEN },
    stateDirectory,
  })
  const code = runProgram(['show', '@last'], {
    terminal: there,
    version: '',
    addServerCommands: () => {},
  })
  assert.equal(await code, 0, there.written.err)
})

test('a job name shows its last run in read commands, and is refused with a hint in others', async () => {
  await punctual('exec', '--job', 'backup', '--', 'echo', 'saved')
  assert.equal((await punctual('logs', 'backup')).out, 'saved\n')
  assert.match((await punctual('why', 'backup')).out, /succeeded/)
  const acts = await punctual('cancel', 'backup')
  assert.equal(acts.code, 2)
  assert.match(
    acts.err,
    /✖ "backup" is a job and not a run\n {2}help: {2}Its last run is backup@last\.\n/,
  )
  const none = await punctual('logs', 'check-nothing')
  assert.equal(none.code, 6)
  assert.match(none.err, /✖ no job is called "check-nothing", and no recent run ends with it\n/)
  assert.match((await punctual('logs', 'chekc')).err, /help: {2}Did you mean check\?\n/)
  await api.call('PUT', '/v1/jobs/idle', { body: { run: 'true' } })
  const idle = await punctual('logs', 'idle')
  assert.equal(idle.code, 6)
  assert.match(idle.err, /✖ there is no run of idle yet\n {2}next: {2}punctual run idle\n/)
})

test('show describes a job: its work, its schedules, and its recent runs', async () => {
  const body = { run: 'echo hi', description: 'Greets.', schedule: { every: '1h', name: 'hourly' } }
  await api.call('PUT', '/v1/jobs/greet', { body })
  await punctual('run', 'greet', '--wait')
  const { out, code } = await punctual('show', 'greet')
  assert.equal(code, 0)
  for (const line of [
    /^greet\n/,
    /^ {2}does +echo hi$/m,
    /^ {2}about +Greets\.$/m,
    /^ {2}hourly +every 1h; next /m,
    /^ {2}last runs\n {4}run_\w{11} {2}✔ succeeded /m,
  ]) {
    assert.match(out, line)
  }
  assert.equal(
    (JSON.parse((await punctual('show', 'greet', '-o', 'json')).out) as { name: string }).name,
    'greet',
  )
})

test('rm deletes jobs; one with live runs only with --cancel', async () => {
  const body = { run: 'sleep 1000', schedule: { every: '1h' } }
  await api.call('PUT', '/v1/jobs/old', { body })
  await punctual('run', 'old')
  const live = await punctual('rm', 'old')
  assert.equal(live.code, 9)
  assert.match(live.err, /✖ old has runs that wait or run\n[^]*next: {2}punctual rm old --cancel\n/)
  const removed = await punctual('rm', 'old', '--cancel')
  assert.deepEqual(
    [removed.code, removed.out],
    [0, 'the job old is deleted, with its schedule\n'],
    removed.err,
  )
  assert.equal((await punctual('rm', 'old')).code, 6)
  const schedule = await punctual('rm', 'greet/hourly')
  assert.equal(schedule.code, 2)
  assert.match(schedule.err, /next: {2}punctual schedules rm greet\/hourly\n/)
  assert.match((await punctual('show', 'old')).out, /⊘ cancelled/)
})
