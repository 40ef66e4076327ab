import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'
import { createFakeTerminal } from './fake-terminal.ts'

const INGEST = `run: echo '{"rows":7}' > "$PUNCTUAL_OUTPUT"\n`
const REPORT = `triggers:
  - after: ingest
    input: { rows: '\${{ after.output.rows }}' }
  - after: nightly/load
    on: any
input:
  rows: { type: integer, default: 0 }
run: echo \${{ input.rows }} rows
`

async function open(t: TestContext) {
  const api = await openApi(t)
  await api.startWorker()
  const workDir = mkdtempSync(join(tmpdir(), 'punctual-triggers-'))
  t.after(() => rmSync(workDir, { recursive: true }))
  const folder = join(workDir, 'jobs')
  mkdirSync(folder)
  const write = (name: string, text: string) =>
    writeFileSync(join(folder, `${name}.job.yaml`), text)
  const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const run = async (...argv: string[]) => {
    const terminal = createFakeTerminal({ env, cwd: workDir, columns: 150 })
    const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
    return { code, ...terminal.written }
  }
  return { run, write }
}

test('a file declares what its job runs after, and every command shows it', async (t) => {
  const { run, write } = await open(t)
  write('ingest', INGEST)
  write('report', REPORT)
  const plan = await run('plan', 'jobs')
  assert.match(plan.out, /\+ report {2}create\n {2}runs after ingest\n {2}runs after nightly\/load/)
  assert.equal((await run('apply', 'jobs')).code, 0)
  const words = 'after ingest, and after nightly/load however that ends'
  assert.equal(
    (await run('next', 'report')).err.trim(),
    `report has no scheduled times. It runs ${words}.`,
  )
  const before = await run('history', 'report')
  assert.equal(before.err.trim(), `report runs ${words}. That has not happened yet.`)

  assert.equal((await run('run', 'ingest', '--wait')).code, 0)
  const [made] = await waitFor(
    async () => {
      const { out } = await run('runs', 'job:report', '-o', 'json')
      const list = JSON.parse(out) as WireRun[]
      return list[0]?.state === 'succeeded' ? list : undefined
    },
    { what: 'the report to have run' },
  )
  assert.equal((await run('logs', 'report@last')).out.trim(), '7 rows')
  const shown = await run('show', 'report@last')
  assert.match(shown.out, /runs after +run_\w+ of ingest \(succeeded\)/)
  const why = await run('why', 'report@last')
  assert.match(why.out, /It runs after run_\w+ of ingest, which succeeded\./)
  const source = await run('why', 'ingest@last')
  assert.match(source.out, new RegExp(`report runs after it: ${made?.id}\\.`))

  assert.equal((await run('pause', 'report', '--reason', 'holidays')).code, 0)
  await run('run', 'ingest', '--wait')
  const told = await waitFor(
    async () => {
      const { out } = await run('history', 'report')
      return out.includes('holidays') ? out : undefined
    },
    { what: 'the second end to be recorded' },
  )
  assert.match(told, /AFTER +JOB +ENDED +RUN +WHY NOT/)
  assert.match(told, /run_\w+ +ingest +✔ succeeded +- +it is paused: holidays/)
  assert.match(told, new RegExp(`ingest +✔ succeeded +${made?.id} +-`))

  const exported = await run('export', 'report')
  assert.match(exported.out, /triggers:\n {2}- after: ingest\n/)
  write('report', REPORT.replace('nightly/load', 'weekly'))
  const changed = await run('plan', 'jobs')
  assert.match(changed.out, /triggers\.1\.after: nightly\/load → weekly\n.*runs after ingest/)
})

test('files whose jobs would start each other are refused with the cycle, without a server', async (t) => {
  const { run, write } = await open(t)
  write('a', 'triggers: [{ after: c }]\nrun: "true"\n')
  write('b', 'triggers: [{ after: a }]\nrun: "true"\n')
  write('c', 'triggers:\n  - webhook: x\n  - after: b/load\nrun: "true"\n')
  const { code, err } = await run('validate', 'jobs')
  assert.equal(code, 2)
  assert.match(err, /jobs\/a\.job\.yaml:1:14 .*would start each other forever: a → b → c → a/)
  assert.match(err, /1 error in 1 of 3 files/)
  assert.equal((await run('apply', 'jobs')).code, 2)
})

test('files whose jobs would run inside themselves are refused with the cycle, without a server', async (t) => {
  const { run, write } = await open(t)
  write('a', 'steps:\n  - job: b\n')
  write('b', 'steps:\n  in: { job: c }\n')
  write('c', 'steps:\n  - run: "true"\n  - job: a\n')
  const { code, err } = await run('validate', 'jobs')
  assert.equal(code, 2)
  assert.match(err, /jobs\/a\.job\.yaml:2:5 .*would run inside themselves: a → b → c → a/)
  assert.match(err, /1 error in 1 of 3 files/)
})
