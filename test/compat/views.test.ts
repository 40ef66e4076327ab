import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import Database from 'better-sqlite3'
import pg from 'pg'
import type { WireCompatJob, WireCompatTask } from '../../src/server/compat/wire.ts'
import { type OpenApi, openApi } from '../api/open-api.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'

type Row = Record<string, unknown>
/** Plain SQL that uses only the three views. */
type Ask = (sql: string) => Promise<Row[]>

/** Converts both databases' times to one form. */
function compatRow(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Date ? value.toISOString() : value,
    ]),
  )
}

const STORES: [name: string, open: (t: TestContext) => Promise<{ store: string; ask: Ask }>][] = [
  [
    'SQLite',
    async (t) => {
      const dir = mkdtempSync(join(tmpdir(), 'punctual-views-'))
      t.after(() => rmSync(dir, { recursive: true, force: true }))
      const path = join(dir, 'punctual.db')
      const ask: Ask = async (sql) => {
        const db = new Database(path, { readonly: true })
        try {
          return db.prepare<[], Row>(sql).all()
        } finally {
          db.close()
        }
      }
      return { store: `sqlite:${path}`, ask }
    },
  ],
  [
    'PostgreSQL',
    async (t) => {
      const store = await postgresUrl()
      const client = new pg.Client({ connectionString: store, options: '-c search_path=punctual' })
      await client.connect()
      t.after(() => client.end())
      const ask: Ask = async (sql) =>
        (await client.query<Row>(sql)).rows.map((row) => compatRow(numbered(row)))
      return { store, ask }
    },
  ],
]

/** The driver returns 64-bit integers as text. */
function numbered(row: Row): Row {
  const { run_id: id, ...rest } = row
  return id === undefined ? row : { run_id: Number(id), ...rest }
}

async function submit({ call }: OpenApi, body: object): Promise<number> {
  return (await call<WireCompatJob>('POST', '/jobs', { body })).body.id
}

/** A worker takes the next job and sends these reports. */
async function work({ call }: OpenApi, reports: readonly { logs: string; status: string }[]) {
  await call('POST', '/workers/register', { body: { worker_id: 'w1' } })
  const { body: task } = await waitFor(
    async () => {
      const answer = await call<WireCompatTask>('GET', '/workers/w1/next')
      return answer.status === 200 ? answer : undefined
    },
    { what: 'a job to be given' },
  )
  for (const report of reports) {
    const body = { worker_id: 'w1', ...report }
    assert.equal((await call('POST', `/jobs/${task.id}/log`, { body })).status, 200)
  }
  return task
}

for (const [name, open] of STORES) {
  test(`jobs, job_runs and workers can be read with SQL alone on ${name}`, async (t) => {
    const { store, ask } = await open(t)
    const api = await openApi(t, { store })
    const one = await submit(api, { name: 'One', command: 'echo one' })
    const two = await submit(api, { name: 'Two', command: 'false', schedule: '@yearly' })
    await api.call('PUT', '/v1/jobs/words', { body: { argv: ['echo', 'a', 'b'] } })

    const jobs = await ask('SELECT * FROM jobs ORDER BY id')
    assert.deepEqual(Object.keys(jobs[0]!), ['id', 'name', 'command', 'schedule', 'created_at'])
    assert.deepEqual(
      jobs.map(({ id, name: called, command, schedule }) => [id, called, command, schedule]),
      [
        [one, 'One', 'echo one', null],
        [two, 'Two', 'false', '@yearly'],
        [jobs[2]!['id'], 'words', 'echo a b', null],
      ],
    )
    const { body: shown } = await api.call<WireCompatJob>('GET', `/jobs/${one}`)
    assert.equal(jobs[0]!['created_at'], shown.created_at)

    assert.deepEqual(await ask('SELECT * FROM job_runs'), [])
    const task = await work(api, [{ logs: 'begun\n', status: 'running' }])
    const [running] = await ask('SELECT * FROM job_runs')
    assert.deepEqual(
      { ...running, start_time: typeof running!['start_time'] },
      {
        run_id: task.run_id,
        job_id: one,
        worker_id: 'w1',
        start_time: 'string',
        end_time: null,
        status: 'running',
        logs: 'begun\n',
      },
    )
    await work(api, [{ logs: 'done "well" ü\n', status: 'success' }])
    const [done] = await ask(`SELECT status, logs, end_time > start_time AS lasted FROM job_runs`)
    assert.deepEqual(
      { ...done, lasted: Boolean(done!['lasted']) },
      { status: 'success', logs: 'begun\ndone "well" ü\n', lasted: true },
    )

    const [worker] = await ask('SELECT * FROM workers')
    assert.deepEqual(Object.keys(worker!), ['worker_id', 'last_seen', 'status'])
    assert.deepEqual([worker!['worker_id'], worker!['status']], ['w1', 'active'])
    const seen = Date.parse(worker!['last_seen'] as string)
    await waitFor(
      async () => {
        await api.call('POST', '/workers/heartbeat', { body: { worker_id: 'w1' } })
        const [row] = await ask('SELECT last_seen FROM workers')
        return Date.parse(row!['last_seen'] as string) > seen
      },
      { what: 'a heartbeat to be written down', deadlineMs: 60_000, intervalMs: 200 },
    )
  })

  test(`values that are not text or too long do not hide other rows on ${name}`, async (t) => {
    const { store, ask } = await open(t)
    const api = await openApi(t, { store })
    for (const logs of ['a\u0000b', 'x'.repeat(5_000), 'plain\n']) {
      await submit(api, { name: 'x', command: 'x' })
      await work(api, [
        { logs, status: 'running' },
        { logs: 'end\n', status: 'failure' },
      ])
    }
    const runs = await ask('SELECT status, logs FROM job_runs ORDER BY run_id')
    assert.deepEqual(
      runs.map(({ status }) => status),
      ['failure', 'failure', 'failure'],
    )
    for (const { logs } of runs) assert.match(logs as string, /end\n$/)
    assert.match(runs[1]!['logs'] as string, /^\[\d+ lines that only the API can read\]\n/)
    assert.equal(runs[2]!['logs'], 'plain\nend\n')
  })

  test(`a silent worker is inactive on ${name}, and the views are read-only`, async (t) => {
    const { store, ask } = await open(t)
    const config = { compatTtlMs: 300, reapMarginMs: 50, leaseTtlMs: 1_000 }
    const api = await openApi(t, { store, config })
    await submit(api, { name: 'x', command: 'x' })
    await work(api, [])
    await waitFor(
      async () => (await ask('SELECT status FROM workers'))[0]!['status'] === 'inactive',
      { what: 'the worker to be given up' },
    )
    const [run] = await ask('SELECT status, worker_id FROM job_runs')
    assert.deepEqual(run, { status: 'running', worker_id: null })
    for (const sql of [
      `DELETE FROM workers`,
      `UPDATE jobs SET name = 'x'`,
      `INSERT INTO job_runs (run_id) VALUES (1)`,
    ]) {
      await assert.rejects(ask(sql), /view|readonly|read.only/i)
    }
  })
}
