import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'
import { startPrometheus, skipWithoutPrometheus as skip } from './prometheus-server.ts'

const DEADLINE_MS = 60_000

/** A real server that runs jobs, and a token that may read its metrics. */
async function openServer(t: TestContext) {
  const home = openHome(t)
  const url = await home.up()
  const access = { PUNCTUAL_DATA: home.dataDir }
  const call = (...argv: string[]) => home.run(argv, access)
  const root = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
  const page = async (token = root) => {
    const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    return { status: answer.status, text: await answer.text() }
  }
  return { ...home, url, call, page }
}

test('a real Prometheus scrapes a server and answers queries about it', { skip }, async (t) => {
  const server = await openServer(t)
  const { url, call, page } = server
  const made = await call('token', 'create', 'prometheus', '--role', 'viewer', '--everywhere')
  const token = made.out.trim()
  assert.equal((await page('wrong')).status, 401)
  const prometheus = await startPrometheus(server, { target: new URL(url).host, token })
  const answered = (text: string, isGood: (value: number) => boolean) =>
    waitFor(
      async () => {
        const [first] = await prometheus.query(text)
        return first && isGood(Number(first.value[1])) ? first : undefined
      },
      { what: `an answer to ${text}`, deadlineMs: DEADLINE_MS, intervalMs: 100 },
    )
  await answered('up{job="punctual"}', (value) => value === 1)
  // The value exists from the first scrape on, so that a rate has a starting point.
  await answered('jobs_executed_total{status="success"}', (value) => value === 0)
  await answered('jobs_executed_total{status="failed"}', (value) => value === 0)

  for (const command of ['true', 'true', 'false']) await call('exec', '--', command)
  await answered('jobs_executed_total{status="success"}', (value) => value === 2)
  await answered('jobs_executed_total{status="failed"}', (value) => value === 1)
  await answered('sum(rate(http_requests_total[30s]))', (value) => value > 0)
  await answered('http_requests_total{method="POST",route="/v1/runs",status="201"}', (n) => n >= 3)
  await answered('job_execution_duration_seconds_count', (value) => value === 3)
  const p95 = 'histogram_quantile(0.95, rate(job_execution_duration_seconds_bucket[30s]))'
  await answered(p95, (value) => value > 0)
  await answered('punctual_runs_submitted_total', (value) => value === 3)
  await answered('punctual_worker_slots{state="free"}', (value) => value === 8)
})

test('promtool accepts the page', { skip }, async (t) => {
  const { call, page } = await openServer(t)
  await page()
  await call('exec', '--', 'true')
  const { text } = await page()
  const check = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
  assert.deepEqual([check.status, check.stdout, check.stderr], [0, '', ''])
})

test('every documented metric is on the page', async (t) => {
  const { call, page } = await openServer(t)
  await page()
  await call('run', '--queue', 'nobody', '--', 'true')
  // On a slow machine a run may be due before it is stored, and then nothing is late.
  const text = await waitFor(
    async () => {
      const soon = new Date(Date.now() + 1_000).toISOString()
      await call('run', '--at', soon, '--wait', '--', 'true')
      const { text: now } = await page()
      return /^punctual_schedule_lag_seconds_count [1-9]/m.test(now) ? now : undefined
    },
    { what: 'a run that was due', deadlineMs: DEADLINE_MS },
  )
  for (const name of documentedMetrics()) assert.match(text, new RegExp(`^# TYPE ${name} `, 'm'))
  assert.match(text, /^punctual_queue_depth\{project="default",queue="nobody"\} 1$/m)
  assert.match(text, /^punctual_runs_live\{state="ready"\} 1$/m)
  assert.match(text, /^punctual_leases_lost_total 0$/m)
})

/** Every metric named in the reference. */
function documentedMetrics(): string[] {
  const path = join(import.meta.dirname, '../../docs/reference/metrics.md')
  return [...readFileSync(path, 'utf8').matchAll(/^\| `(\w+)/gm)].map(([, name]) => name as string)
}
