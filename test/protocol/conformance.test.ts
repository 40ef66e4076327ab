import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { type OpenApi, openApi } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'
import { startBreakingProxy } from './breaking-proxy.ts'

/** A worker written from the protocol's documentation alone, in fewer than sixty lines. */
const WORKER = join(import.meta.dirname, 'worker.py')
const hasPython = spawnSync('python3', ['--version']).status === 0
const skip = !hasPython && 'needs python3 (Debian: apt install python3)'

async function startPython(
  t: TestContext,
  url: string,
  token: string,
  protocol: readonly string[] = [],
): Promise<void> {
  const args = [WORKER, url, token, 'python', ...protocol]
  const worker = spawn('python3', args, { stdio: 'inherit' })
  t.after(async () => {
    const exited = once(worker, 'exit')
    worker.kill('SIGKILL')
    await exited
  })
}

async function submit({ call }: OpenApi, body: object): Promise<string> {
  return (await call<{ id: string }>('POST', '/v1/runs', { body })).body.id
}

async function end({ call }: OpenApi, id: string): Promise<WireRun> {
  return waitFor(
    async () => {
      const { body } = await call<WireRun>('GET', `/v1/runs/${id}?wait=60s`)
      return body.finished_at === null ? undefined : body
    },
    { what: `${id} to end`, deadlineMs: 60_000 },
  )
}

test('it has at most sixty lines and needs nothing but Python', () => {
  const lines = readFileSync(WORKER, 'utf8').split('\n').filter(Boolean)
  assert.ok(lines.length <= 60, `${lines.length} lines`)
})

for (const protocol of ['1', '2']) {
  test(`it runs commands and reports them in version ${protocol}`, { skip }, async (t) => {
    const api = await openApi(t)
    await startPython(t, api.url, await api.token('worker'), [protocol])
    assert.equal((await end(api, await submit(api, { run: 'true' }))).state, 'succeeded')
  })
}

test('it runs commands and reports their ends and output', { skip }, async (t) => {
  const api = await openApi(t, { config: { minWorkerProtocol: 2 } })
  await startPython(t, api.url, await api.token('worker'))
  const good = await end(api, await submit(api, { run: 'echo hi; printf "\\377"' }))
  assert.deepEqual([good.state, good.worker, good.process?.exit_code], ['succeeded', 'python', 0])
  const log = await api.call<{ lines: { text: string }[] }>('GET', `/v1/runs/${good.id}/logs`)
  assert.deepEqual(
    log.body.lines.map(({ text }) => text),
    ['hi', '\udcff'],
  )
  const bad = await end(api, await submit(api, { argv: ['sh', '-c', 'exit 7'] }))
  assert.deepEqual([bad.state, bad.cause, bad.process?.exit_code], ['failed', 'exit', 7])
})

test('with answers lost, every run happens once and is reported', { skip }, async (t) => {
  const api = await openApi(t)
  const dir = mkdtempSync(join(tmpdir(), 'punctual-python-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const proxy = await startBreakingProxy(api.url, (word, nth) => {
    if (word === 'workers' && nth === 1) return 'lose answer'
    if (word === 'exchange' && nth % 3 === 0) return 'lose answer'
    if (word === 'exchange' && nth % 7 === 0) return 'lose request'
    return word === 'heartbeat' && nth % 2 === 0 ? 'lose answer' : undefined
  })
  t.after(() => proxy.close())
  await startPython(t, proxy.url, await api.token('worker'))
  const file = join(dir, 'started')
  appendFileSync(file, '')
  const ids: string[] = []
  for (let i = 0; i < 30; i += 1) {
    ids.push(await submit(api, { run: `echo "$PUNCTUAL_RUN_ID" >> ${file}; exit ${i % 2}` }))
  }
  const runs = await Promise.all(ids.map((id) => end(api, id)))
  assert.deepEqual(
    runs.map(({ state }) => state),
    ids.map((_, i) => (i % 2 === 0 ? 'succeeded' : 'failed')),
  )
  const started = readFileSync(file, 'utf8').trim().split('\n')
  assert.deepEqual(started.toSorted(), ids.toSorted())
  assert.ok((proxy.struck.get('lose answer: exchange') ?? 0) >= 5, 'answers were lost')
})

test('a cancel reaches it, and it reports that', { skip }, async (t) => {
  const api = await openApi(t)
  await startPython(t, api.url, await api.token('worker'))
  const id = await submit(api, { run: 'sleep 1000' })
  await waitFor(async () => (await api.call('GET', `/v1/runs/${id}`)).body['state'] === 'running', {
    what: 'it to run',
  })
  assert.equal((await api.call('POST', `/v1/runs/${id}/cancel`)).body['state'], 'cancelling')
  assert.equal((await end(api, id)).state, 'cancelled')
})
