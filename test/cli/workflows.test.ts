import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import type { WireStep } from '../../src/core/workflow/views/step-views.ts'
import type { SubmitAnswer } from '../../src/core/wire/protocol.ts'
import type { WireWhy } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import type { Handler } from '../../src/worker/index.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'
import { createFakeTerminal } from './fake-terminal.ts'

const ETL = {
  input: {
    date: { type: 'string', format: 'date' },
    full: { type: 'boolean', default: false },
    parts: { type: 'array', default: [1, 2] },
  },
  steps: {
    extract: { task: 'echo', with: '${{ input }}' },
    load: { task: 'part', needs: 'extract', each: '${{ input.parts }}', with: '${{ item }}' },
    sign_off: {
      needs: 'extract',
      if: '${{ input.full }}',
      approve: { message: 'Publish?', input: { note: { type: 'string' } } },
    },
    report: { task: 'echo', needs: ['load', 'sign_off'], with: 'done' },
    tidy: { task: 'echo', finally: true },
  },
}

async function open(t: TestContext) {
  const broken = new Set<unknown>()
  const handlers: Record<string, Handler> = {
    echo: (input) => input,
    part(part) {
      if (broken.has(part)) throw new Error(`part ${String(part)} is broken`)
      return part
    },
  }
  const api = await openApi(t)
  await api.startWorker({ handlers })
  const put = await api.call('PUT', '/v1/jobs/etl', { body: ETL })
  assert.equal(put.status, 201, JSON.stringify(put.body))
  const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const start = (isInteractive: boolean, ...argv: string[]) => {
    const terminal = createFakeTerminal({ env, isInteractive, columns: 150 })
    const code = runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
    return { terminal, code }
  }
  const run = async (...argv: string[]) => {
    const { terminal, code } = start(false, ...argv)
    return { code: await code, ...terminal.written }
  }
  const json = async <T>(...argv: string[]) => {
    const { code, out, err } = await run(...argv, '-o', 'json')
    assert.equal(code, 0, err)
    return JSON.parse(out) as T
  }
  return { api, broken, run, json, start }
}

const states = (steps: readonly WireStep[]) => steps.map(({ name, state }) => `${name} ${state}`)

test('parameters of a job are flags of run, and waiting reports every step', async (t) => {
  const { run, json } = await open(t)
  const done = await run('run', 'etl', '--date', '2026-01-31', '--no-full', '--wait')
  assert.equal(done.code, 0, done.err)
  assert.equal(done.out, '')
  for (const line of [
    /^✔ succeeded {2}extract {2}\S+$/m,
    /^✔ succeeded {2}load/m,
    /^⤼ skipped {2}sign_off {2}Its `if` was false\.$/m,
    /^✔ succeeded {2}tidy/m,
    /^✔ succeeded {2}run_\w+$/m,
  ]) {
    assert.match(done.err, line)
  }
  const [, id = ''] = /(run_\w+)$/m.exec(done.err) ?? []
  const shown = await json<WireRun>('show', id)
  assert.deepEqual(shown.input, { date: '2026-01-31', full: false, parts: [1, 2] })
  const byField = await run('run', 'etl', '-i', 'date=2026-02-01', '-i', 'parts=[]', '-o', 'name')
  assert.deepEqual((await json<WireRun>('wait', byField.out.trim())).input, {
    date: '2026-02-01',
    full: false,
    parts: [],
  })
})

test('a workflow says what its steps wait for, and lists show it rather than its steps', async (t) => {
  const { api, run, json, start } = await open(t)
  const prices = { each: ['eu', 'us'], task: 'echo', runs_on: { labels: { zone: 'dmz' } } }
  const steps = { prices, publish: { task: 'echo', needs: 'prices' } }
  assert.equal((await api.call('PUT', '/v1/jobs/regions', { body: { steps } })).status, 201)
  const watching = start(true, 'run', 'regions', '--wait')
  await waitFor(async () => (await json<WireRun[]>('ps')).length === 3, { what: 'both items' })

  const { id, job } = await json<WireRun>('show', '@last')
  assert.equal(job, 'regions')
  assert.deepEqual(states(await json<WireStep[]>('steps', '@last')), [
    'prices running',
    'publish untouched',
  ])
  assert.deepEqual(
    (await json<WireRun[]>('runs')).map((one) => one.id),
    [id],
  )
  assert.equal((await json<WireRun[]>('runs', '--steps')).length, 3)
  assert.equal((await json<WireRun[]>('runs', 'job:regions/*')).length, 2)

  const held =
    /It has been running for \S+: prices has waited \S+ for a worker that carries zone=dmz/
  const why = await json<WireWhy>('why', '@last')
  assert.match(why.sentence, held)
  assert.deepEqual(why.fixes, [
    'start a worker that has the handler echo, carries zone=dmz',
    `punctual steps ${id}`,
  ])
  await waitFor(() => held.test(watching.terminal.written.err), { what: 'the picture to say so' })
  assert.equal((await run('cancel', id)).code, 0)
  assert.equal(await watching.code, 4)
})

test('unknown parameter flags are refused with the known ones', async (t) => {
  const { run } = await open(t)
  const typo = await run('run', 'etl', '--dat', 'x')
  assert.equal(typo.code, 2)
  assert.equal(
    typo.err,
    `✖ unknown option '--dat'
  help:  Did you mean --date?
  code:  unexpected
`.replace('unexpected', 'usage'),
  )
  assert.match(
    (await run('run', 'etl', '--date', 'soon')).err,
    /the input date must be a date such/,
  )
  assert.equal((await run('run', '--date', 'x')).code, 2)
  assert.equal((await run('run', 'nobody', '--date', 'x')).code, 6)
})

test('the steps of a run are drawn as a graph with states, times and reasons', async (t) => {
  const { broken, run, json } = await open(t)
  broken.add(2)
  const failed = await run('run', 'etl', '--date', '2026-01-31', '--wait')
  assert.equal(failed.code, 3)
  assert.match(failed.err, /✖ failed {2}load {2}\S+ {2}1 of 2 items failed\.\n/)
  assert.match(
    failed.err,
    /\n {2}next: {2}punctual steps run_\w+\n +punctual retry run_\w+ --failed\n$/,
  )
  const [, id = ''] = /(run_\w+) --failed/.exec(failed.err) ?? []
  const { out } = await run('steps', id)
  const lines = out.split('\n')
  assert.match(lines[0] ?? '', /^STEP +STATE +TOOK +WHEN +RUN +WHY$/)
  assert.match(out, /^extract +✔ succeeded +\S+ +━+ +run_\w+$/m)
  assert.match(out, /^├─ load \(each\) +✖ failed .* 2 items +1 of 2 items failed\.$/m)
  assert.match(out, /^└─ sign_off \(approval\) +⤼ skipped/m)
  assert.match(
    out,
    /^ {3}└─ report \(also after load\) +⤼ skipped .*All steps it needs must succeed, and load/m,
  )
  assert.match(out, /^tidy finally +✔ succeeded/m)
  const items = await run('steps', id, 'load')
  assert.match(items.out, /^1 +2 +✖ failed +\S+ +run_\w+ +part 2 is broken$/m)
  assert.equal((await run('steps', id, '--state', 'failed', '-o', 'name')).out, 'load\n')

  broken.clear()
  const again = await run('retry', id, '--failed')
  const [, retry = ''] = /^(run_\w+) is a retry of/.exec(again.out) ?? []
  assert.equal((await run('wait', retry)).code, 0)
  const kept = await run('steps', retry)
  assert.match(kept.out, /^extract +✔ succeeded .*run_\w+ \(kept\)$/m)
  const from = await json<SubmitAnswer[]>('retry', id, '--from', 'report')
  assert.equal((await run('wait', from[0]?.id ?? '')).code, 3, 'load was not asked for')
  assert.equal((await run('retry', id, '--from', 'nothing')).code, 6)
})

test('a replay changes the given parts of the input, and the version', async (t) => {
  const { api, run, json } = await open(t)
  const { id } = await json<SubmitAnswer>('run', 'etl', '--date', '2026-01-31')
  assert.equal((await run('wait', id)).code, 0)
  const other = await run('replay', id, '-i', 'parts=[7]')
  const [, replay = ''] = /^(run_\w+) is a replay of run_\w+\n$/.exec(other.out) ?? []
  const over = await json<WireRun>('wait', replay)
  assert.deepEqual(over.input, { date: '2026-01-31', full: false, parts: [7] })
  await api.call('PUT', '/v1/jobs/etl', { body: { steps: { only: { task: 'echo' } } } })
  const newer = await json<SubmitAnswer>('replay', id, '--job-version', '2')
  await run('wait', newer.id)
  assert.deepEqual(states(await json<WireStep[]>('steps', newer.id)), ['only succeeded'])
  assert.equal((await run('replay', id)).code, 2)
  assert.equal((await run('replay', id, '--job-version', '9')).code, 2)
})

test('a run waits for others given by name', async (t) => {
  const { run, json } = await open(t)
  const { id } = await json<SubmitAnswer>('run', 'etl', '--date', '2026-01-31')
  const after = await run('run', '--after', id, '--after', 'etl@last:any', '--wait', '--', 'true')
  assert.equal(after.code, 0, after.err)
  const never = await run('run', '--after', `${id}:notok`, '--wait', '-o', 'json', '--', 'true')
  assert.deepEqual([never.code, (JSON.parse(never.out) as WireRun).state], [3, 'skipped'])
  assert.equal((await run('run', '--after', `${id}:well`, '--', 'true')).code, 2)
})

test('an approval is given or refused, or its step is skipped', async (t) => {
  const { run, json } = await open(t)
  const ask = async () => {
    const { id } = await json<SubmitAnswer>('run', 'etl', '--date', '2026-01-31', '--full')
    const name = ['steps', id, '--state', 'waiting', '-o', 'name']
    await waitFor(async () => (await run(...name)).out === 'sign_off\n', { what: 'a question' })
    return id
  }
  const id = await ask()
  const why = await run('why', id)
  assert.match(why.out, /sign_off waits for a user to approve it: Publish\?/)
  assert.match(why.out, new RegExp(`fix: {2}punctual approve ${id} sign_off`))
  assert.match(
    (await run('approve', id)).err,
    /the input note is missing\n {2}help: {2}Give it with -i note=VALUE\./,
  )
  const given = await run('approve', id, '-i', 'note=007', '-m', 'fine')
  assert.deepEqual([given.code, given.out], [0, `sign_off of ${id} is approved\n`], given.err)
  assert.equal((await run('wait', id)).code, 0)
  const again = await run('approve', id)
  assert.deepEqual([again.code, /the run is succeeded/.test(again.err)], [9, true], again.err)
  const [step] = (await json<WireStep[]>('steps', id)).filter(({ name }) => name === 'sign_off')
  assert.deepEqual(step?.output, { note: '007' })

  const refused = await ask()
  assert.equal((await run('refuse', refused, 'sign_off', '-m', 'no')).code, 0)
  assert.equal((await run('wait', refused)).code, 3)
  const skipped = await ask()
  assert.equal((await run('skip', skipped, 'sign_off')).out, `sign_off of ${skipped} is skipped\n`)
  assert.equal((await run('wait', skipped)).code, 0)
})

test('on a terminal the steps are updated in place', async (t) => {
  const { run, start } = await open(t)
  const { terminal, code } = start(true, 'run', 'etl', '--date', '2026-01-31', '--full', '--wait')
  const sees = (what: RegExp) =>
    waitFor(() => what.test(terminal.written.err), { what: String(what) })
  await sees(/\? waiting {2}sign_off .*It waits for a user to approve it: Publish\?/)
  assert.match(terminal.written.err, /· untouched {2}report {2}It waits for (load and )?sign_off\./)
  const [, id = ''] = /^(run_\w+) /.exec(terminal.written.err) ?? []
  await run('approve', id, '-i', 'note=x')
  await sees(/✔ succeeded {2}tidy/)
  await sees(/✔ succeeded {2}run_/)
  assert.equal(await code, 0)
  // Drawn over the previous output: five lines up, and the rest of the screen is cleared.
  assert.ok(terminal.written.err.includes('\r\u001B[5A\u001B[J'))
})

test('a job is drawn as a graph, with the recent outcomes of its steps', async (t) => {
  const { run } = await open(t)
  await run('run', 'etl', '--date', '2026-01-31', '--wait')
  const { out } = await run('graph', 'etl')
  assert.match(out, /^STEP +RUNS +FAILED +P50 +P95\nextract +1 +\S+ +\S+\n├─ load \(each\) +2 /)
  assert.match(out, /\n {3}└─ report \(also after load\) +1 /)
  assert.equal((await run('graph', 'etl', '-o', 'name')).out.split('\n').length, 6)
  assert.equal((await run('graph', 'nobody')).code, 6)
})

test('one step is stopped, by its run or by those of its items, and the others continue', async (t) => {
  const { api, run, json } = await open(t)
  await api.startWorker({
    handlers: {
      long: (_input, { signal }) =>
        new Promise((_, fail) => {
          signal.addEventListener('abort', () => fail(new Error('told to stop')))
        }),
    },
  })
  const steps = {
    one: { task: 'long', allow_failure: true },
    some: { task: 'long', each: [1, 2], allow_failure: true },
    last: { needs: ['one', 'some'], when: 'all-done', task: 'echo' },
  }
  await api.call('PUT', '/v1/jobs/long', { body: { steps } })
  const { id } = await json<SubmitAnswer>('run', 'long')
  const begun = async () => {
    const shown = await json<WireStep[]>('steps', id, '--state', 'running')
    return shown.length === 2 && shown.every(({ items }) => (items?.counts.running ?? 2) === 2)
  }
  await waitFor(begun, { what: 'both steps to run' })
  const early = await run('cancel', id, '--step', 'last')
  assert.equal(early.code, 9, early.err)
  assert.match(early.err, /last has no active run: it is untouched/)
  assert.match((await run('cancel', id, '--step', 'some')).out, /was asked to stop: 2 items$/m)
  const one = await run('cancel', id, '--step', 'one')
  assert.match(one.out, /^one of run_\w+ was asked to stop: run_\w+$/m)
  assert.equal((await run('wait', id)).code, 0)
  const ends = await json<WireStep[]>('steps', id)
  assert.deepEqual(states(ends), ['one cancelled', 'some cancelled', 'last succeeded'])
})
