import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { createFakeTerminal } from './fake-terminal.ts'

async function open(t: TestContext) {
  const api = await openApi(t)
  const workDir = mkdtempSync(join(tmpdir(), 'punctual-references-'))
  t.after(() => rmSync(workDir, { recursive: true }))
  const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const run = async (...argv: string[]) => {
    const terminal = createFakeTerminal({ env, cwd: workDir, columns: 150 })
    const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
    return { code, ...terminal.written }
  }
  /** A separate folder for each case, so that one does not see the files of another. */
  const folder = (name: string, files: Record<string, string>) => {
    mkdirSync(join(workDir, name))
    for (const [job, text] of Object.entries(files)) {
      writeFileSync(join(workDir, name, `${job}.job.yaml`), text)
    }
    return name
  }
  return { api, run, folder: Object.assign(folder, { workDir }) }
}

const LOAD =
  'input:\n  date: { type: string, format: date }\n  full: { type: boolean, default: false }\nrun: "true"\n'

test('a step that runs an unknown job is found by validate where possible, by plan and by apply', async (t) => {
  const { api, run, folder } = await open(t)
  await api.startWorker({ name: 'w1', handlers: { mail: () => 1 } })
  const etl = 'steps:\n  load:\n    job: load-warehous\n'
  const both = folder('both', { etl, 'load-warehouse': 'run: "true"\n' })
  const checked = await run('validate', both)
  assert.equal(checked.code, 0)
  assert.match(
    checked.err,
    /etl\.job\.yaml:3:5 {2}warning\[unknown_job\].*did you mean load-warehouse\?/,
  )

  for (const command of ['plan', 'apply']) {
    const refused = await run(command, both)
    assert.equal(refused.code, 2, refused.err)
    assert.match(
      refused.err,
      /etl\.job\.yaml:3:5 {2}error\[unknown_job\].*did you mean load-warehouse\?/,
    )
    assert.match(refused.err, /Nothing was changed/)
  }
  assert.equal((await api.call('GET', '/v1/jobs/etl')).status, 404)

  // A job on the server, one in the folder and a handler of a worker are all known.
  await api.call('PUT', '/v1/jobs/there', { body: { run: 'true' } })
  const steps = ['there', 'near', 'mail'].map((job) => `  - job: ${job}\n`).join('')
  const known = folder('known', { all: `steps:\n${steps}`, near: 'run: "true"\n' })
  const applied = await run('apply', known)
  assert.deepEqual([applied.code, applied.err], [0, ''])
})

test('the input a step gives a job must match its parameters, in files and on the server', async (t) => {
  const { api, run, folder } = await open(t)
  const cases: [name: string, given: string, code: string, message: RegExp][] = [
    ['missing', '', 'missing_field', /with\.date is missing: the job load needs it/],
    [
      'unknown',
      '    with: { dat: "2026-01-31", date: "2026-01-31" }\n',
      'unknown_field',
      /with\.dat is not an input of the job load; did you mean date\?/,
    ],
    [
      'type',
      '    with: { date: "2026-01-31", full: "yes" }\n',
      'invalid_field',
      /with\.full must be true or false for the job load/,
    ],
  ]
  for (const [name, given, code, message] of cases) {
    const etl = `steps:\n  one:\n    job: load\n${given}`
    const { code: exit, err } = await run('validate', folder(name, { etl, load: LOAD }))
    assert.equal(exit, 2, err)
    assert.match(err, message)
    assert.match(err, new RegExp(`error\\[${code}\\]`))
  }
  const computed = `steps:\n  days:\n    run: ls\n  one:\n    needs: days\n    job: load\n    with: { date: "\${{ run.id }}" }\n`
  assert.equal((await run('validate', folder('computed', { etl: computed, load: LOAD }))).code, 0)

  const stored = folder('stored', { load: LOAD })
  assert.equal((await run('apply', stored)).code, 0)
  const alone = folder('alone', { etl: 'steps:\n  one:\n    job: load\n' })
  assert.equal((await run('validate', alone)).code, 0)
  const planned = await run('plan', alone)
  assert.deepEqual([planned.code, /with\.date is missing/.test(planned.err)], [2, true])
  assert.equal((await api.call('GET', '/v1/jobs/etl')).status, 404)
})

test('plan warns about missing secrets, queues, labels and followed jobs', async (t) => {
  const { api, run, folder } = await open(t)
  await api.startWorker({ name: 'w1', queues: ['default', 'mail'], labels: { disk: 'fast' } })
  await api.call('PUT', '/v1/secrets/THERE', { body: { value: 'a long enough value' } })
  const lacking = [
    'queue: gpu',
    'secrets: [THERE, ABSENT]',
    'triggers: [{ after: bakup }, { webhook: orders }]',
    'http:',
    '  url: https://example.com/',
    '  headers: { authorization: "Bearer ${{ secrets.API_KEY }}" }',
  ]
  const labels = 'runs_on: { labels: { disk: slow } }\nqueue: mail\nrun: "true"\n'
  const fine = 'queue: mail\nruns_on: { labels: { disk: fast } }\nsecrets: [THERE]\nrun: "true"\n'
  const jobs = folder('jobs', {
    lacking: `${lacking.join('\n')}\n`,
    labels,
    fine,
    backup: 'run: "true"\n',
  })
  const planned = await run('plan', jobs)
  assert.equal(planned.code, 0, planned.err)
  for (const line of [
    /lacking\.job\.yaml:1:1 {2}warning\[queue_not_served\].*no connected worker serves the queue gpu/,
    /lacking\.job\.yaml:2:\d+ {2}warning\[secret_not_found\].*there is no secret ABSENT/,
    /lacking\.job\.yaml:3:\d+ {2}warning\[unknown_job\].*there is no job bakup.*did you mean backup\?/,
    /lacking\.job\.yaml:3:\d+ {2}warning\[secret_not_found\].*there is no secret HOOK_ORDERS /,
    /lacking\.job\.yaml:6:\d+ {2}warning\[secret_not_found\].*there is no secret API_KEY/,
    /labels\.job\.yaml:1:\d+ {2}warning\[labels_not_served\].*no connected worker that serves the queue mail carries disk=slow/,
  ]) {
    assert.match(planned.err, line)
  }
  assert.doesNotMatch(planned.err, /fine\.job\.yaml/)
  const viewer = await api.token('viewer')
  const seen = await run('plan', jobs, '--token', viewer)
  assert.deepEqual([seen.code, /secret_not_found/.test(seen.err)], [0, false], seen.err)
  assert.equal((await run('apply', jobs)).code, 0)
})

test('a job that --prune deletes is unknown to the steps of the remaining files', async (t) => {
  const { api, run, folder } = await open(t)
  const jobs = folder('jobs', { etl: 'steps:\n  load:\n    job: sub\n', sub: 'run: "true"\n' })
  assert.equal((await run('apply', jobs)).code, 0)
  rmSync(join(folder.workDir, jobs, 'sub.job.yaml'))
  assert.equal((await run('plan', jobs)).code, 0, 'without --prune it stays')
  for (const command of ['plan', 'apply']) {
    const refused = await run(command, '--prune', jobs)
    assert.equal(refused.code, 2, refused.err)
    assert.match(
      refused.err,
      /etl\.job\.yaml:3:5 {2}error\[unknown_job\].*--prune deletes the job sub/,
    )
  }
  assert.equal((await api.call('GET', '/v1/jobs/sub')).status, 200)
  await api.startWorker({ name: 'w1', handlers: { sub: () => 1 } })
  assert.equal((await run('apply', '--prune', jobs)).code, 0, 'the handler takes over')
})

test('the worker that plan suggests for a label serves the queue too', async (t) => {
  const { api, run, folder } = await open(t)
  await api.startWorker({ name: 'w1', queues: ['mail'], labels: { disk: 'fast' } })
  const one = 'runs_on: { labels: { disk: slow } }\nqueue: mail\nrun: "true"\n'
  const planned = await run('plan', folder('labels', { one }))
  assert.match(planned.err, /punctual worker --queue mail --label disk=slow\n/)
})
