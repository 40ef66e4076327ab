import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import type { WireHookRun } from '../../src/core/webhook/hook.ts'
import type { SubmitAnswer } from '../../src/core/wire/protocol.ts'
import type { WirePage } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { mintSecret, signedHeaders } from '../../src/server/webhooks/signing.ts'
import { createFakeTerminal } from '../cli/fake-terminal.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from './open-api.ts'

const SECRET = mintSecret()

/** Calls the hook as its sender would, signed. */
async function callHook({ call }: OpenApi, hook: string): Promise<string> {
  const at = Math.floor(Date.now() / 1_000)
  const { status, body } = await call<{ runs: WireHookRun[] }>('POST', `/v1/hooks/${hook}`, {
    body: {},
    token: null,
    headers: signedHeaders({ id: 'msg_1', body: '{}', at }, [SECRET]),
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body.runs[0]?.id ?? ''
}

async function checkCreators(t: TestContext, store?: string): Promise<void> {
  const api = await openApi(t, store === undefined ? {} : { store })
  await api.startWorker()
  const post = async (path: string, body: unknown, token = ROOT_TOKEN) =>
    (await api.call<SubmitAnswer>('POST', path, { body, token })).body.id
  const define = async (name: string, body: object) => {
    const { status, body: answer } = await api.call('PUT', `/v1/jobs/${name}`, { body })
    assert.ok(status < 300, JSON.stringify(answer))
  }
  const named = (job: string) =>
    waitFor(
      async () => {
        const { body } = await api.call<WirePage<WireRun>>('GET', `/v1/runs?q=job:${job}`)
        return body.data[0]
      },
      { what: `a run of ${job}`, deadlineMs: 60_000 },
    )
  const { body: made } = await api.call<{ token: string }>('POST', '/v1/tokens', {
    body: { name: 'ci', role: 'operator' },
  })
  const secret = await api.call('PUT', '/v1/secrets/HOOK_DEPLOY', { body: { value: SECRET } })
  assert.ok(secret.status < 300, JSON.stringify(secret.body))
  await define('report', { run: 'true', triggers: [{ after: 'ingest' }] })
  await define('ingest', { run: 'true' })
  await define('flow', { steps: { load: { run: 'true' } } })
  await define('often', { run: 'true', schedule: { name: 'n', every: '1s', overlap: 'allow' } })
  await define('deploy', { run: 'true', triggers: [{ webhook: 'deploy' }] })

  const byRoot = await post('/v1/jobs/ingest/runs', {}, ROOT_TOKEN)
  const byToken = await post('/v1/jobs/ingest/runs', {}, made.token)
  const flow = await post('/v1/jobs/flow/runs', {})
  const hook = await callHook(api, 'deploy')
  const range = { from: '2026-01-01T00:00:00Z', until: '2026-01-01T00:00:01Z', dry_run: false }
  const path = '/v1/jobs/often/schedules/n/backfill'
  const backfill = await api.call<{ id: string }>('POST', path, { body: range })
  assert.ok(backfill.status < 300, JSON.stringify(backfill.body))
  const [after, step, scheduled] = [
    await named('report'),
    await named('flow/load'),
    await named('often'),
  ]
  const expected: [id: string, by: RegExp][] = [
    [byRoot, /^root$/],
    [byToken, /^ci$/],
    [hook, /^a hook$/],
    [after.id, new RegExp(`^after (${byRoot}|${byToken})$`)],
    [step.id, new RegExp(`^workflow ${flow}$`)],
    [scheduled.id, /^(schedule often\/n|backfill bkf_\w+)$/],
  ]
  for (const [id, by] of expected) {
    assert.match((await api.call<WireRun>('GET', `/v1/runs/${id}`)).body.created_by, by)
  }
  const listed = await waitFor(
    async () => {
      const { body } = await api.call<WirePage<WireRun>>('GET', '/v1/runs?limit=500')
      const all = new Set(body.data.map(({ created_by }) => created_by))
      const wanted = ['schedule often/n', `backfill ${backfill.body.id}`]
      return wanted.every((by) => all.has(by)) ? body.data : undefined
    },
    { what: 'a run of the schedule and one of the backfill', deadlineMs: 60_000 },
  )
  for (const [id, by] of expected) {
    const run = listed.find((one) => one.id === id)
    if (run) assert.match(run.created_by, by)
  }
  const command = async (...argv: string[]) => {
    const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
    const terminal = createFakeTerminal({ env, columns: 200 })
    await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
    return terminal.written.out
  }
  assert.match(await command('show', byToken), /\n {2}started by +ci\n/)
  assert.match(await command('runs', 'job:report'), /BY\n[^]*after run_\w+/)
}

test('a run says which caller or source started it, by itself and in lists, on SQLite', (t) =>
  checkCreators(t))

test('and on PostgreSQL', async (t) => checkCreators(t, await postgresUrl()))
