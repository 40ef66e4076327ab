// The files of examples/shop unchanged, on a real server; test handlers replace scripts, images and addresses.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import type { Assignment, FinishedAttempt } from '../../src/core/wire/protocol.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { createFakeTerminal } from '../cli/fake-terminal.ts'
import { registerManualWorker } from '../integration/manual-worker.ts'
import { waitFor } from '../support/wait-for.ts'

const SHOP = join(import.meta.dirname, '../../examples/shop')
const JOBS = readdirSync(SHOP).map((file) => file.replace(/\.job\..*/, ''))
const TASKS = ['warehouse.load', 'billing.customers', 'billing.send-invoice', 'prices.publish']

/** Results of steps that other steps use. */
const RESULTS: Record<string, unknown> = {
  'nightly-etl/extract': { partitions: ['p1', 'p2', 'p3'] },
  'nightly-etl/transform': { rows: 10 },
  'ingest-raw/fetch': { file: '/tmp/orders of today.json' },
  'invoices/customers': [{ id: 7 }, { id: 8 }],
}

async function openShop(t: TestContext) {
  const { call, scheduler, url } = await openApi(t)
  for (const name of ['PGPASSWORD', 'CHAT_TOKEN']) {
    const { status } = await call('PUT', `/v1/secrets/${name}`, { body: { value: 'very secret' } })
    assert.ok(status < 300, `${name}: ${status}`)
  }
  const env = { PUNCTUAL_SERVER: url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const punctual = async (...argv: string[]) => {
    const terminal = createFakeTerminal({ env, columns: 120 })
    const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
    assert.equal(code, 0, `${argv.join(' ')}: ${terminal.written.out}${terminal.written.err}`)
    return terminal.written.out
  }
  const worker = await registerManualWorker(scheduler.clientFor('default'), {
    jobs: TASKS,
    queues: ['default', 'etl'],
    slots: 20,
    labels: { region: 'eu', zone: 'dmz' },
    executors: ['shell', 'argv', 'script', 'http', 'container'],
    features: ['secrets'],
  })
  const seen: Assignment[] = []
  const workOnce = async () => {
    const { runs } = await worker.exchange({ waitMs: 100 })
    seen.push(...runs)
    const done = runs.map(({ run, fence, job }): FinishedAttempt => {
      const result = JSON.stringify(RESULTS[job] ?? null)
      return { run, fence, outcome: 'succeeded', result }
    })
    if (done.length > 0) await worker.report(done, 0)
  }
  const submit = async (...argv: string[]) =>
    (JSON.parse(await punctual('run', ...argv, '-o', 'json')) as { id: string }).id
  /** Works until the run is in the wanted state. */
  const until = (id: string, isThere: (run: WireRun) => boolean) =>
    waitFor(
      async () => {
        await workOnce()
        return isThere((await call<WireRun>('GET', `/v1/runs/${id}`)).body)
      },
      { what: `${id} to be done`, deadlineMs: 60_000 },
    )
  const succeeds = (id: string) => until(id, ({ state }) => state === 'succeeded')
  const waits = (id: string) => until(id, ({ workflow }) => workflow?.steps.waiting === 1)
  const does = (job: string) => seen.filter((run) => run.job === job)
  return { punctual, submit, succeeds, waits, does }
}

test('the sample project is validated and applied, and every job of it runs', async (t) => {
  const { punctual, submit, succeeds } = await openShop(t)
  await punctual('validate', SHOP)
  assert.equal((await punctual('apply', SHOP)).match(/created/g)?.length, JOBS.length)
  const flags: Record<string, string[]> = { deploy: ['--revision', 'f00ba7'] }
  for (const job of JOBS) await succeeds(await submit(job, ...(flags[job] ?? [])))
})

test('the full example runs from the first script to the last, with its approval', async (t) => {
  const { punctual, submit, succeeds, waits, does } = await openShop(t)
  await punctual('apply', SHOP)
  const id = await submit('nightly-etl', '--date', '2026-01-31', '--full')
  await waits(id)
  assert.match(await punctual('steps', id, '-o', 'json'), /Publish the full reload of 2026-01-31\?/)
  assert.deepEqual(does('nightly-etl/report'), [])
  await punctual('approve', id, '-m', 'as agreed')
  await succeeds(id)

  const [extract] = does('nightly-etl/extract')
  const variables = extract?.work && 'env' in extract.work ? extract.work.env : {}
  assert.deepEqual([variables?.['DATE'], variables?.['PGHOST']], ['2026-01-31', 'db.internal'])
  assert.deepEqual(
    does('nightly-etl/transform').map(({ work }) => work && 'env' in work && work.env?.['ITEM']),
    ['p1', 'p2', 'p3'],
  )
  const [load] = does('nightly-etl/load')
  const parts = [{ rows: 10 }, { rows: 10 }, { rows: 10 }]
  assert.deepEqual(JSON.parse(load?.input ?? ''), { date: '2026-01-31', parts })
  assert.deepEqual([does('nightly-etl/report').length, does('cleanup-tmp').length], [1, 1])
})
