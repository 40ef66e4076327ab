import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { WireCompatJob, WireCompatJobDetail } from '../../src/server/compat/wire.ts'
import { openHome, type PunctualHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'
import { slowdownFactor } from '../support/slowdown-factor.ts'

/** The promises of the two older designs, tested by independent scripts. */
const MVP_WORKER = join(import.meta.dirname, 'mvp-worker.sh')
const SHELL_WORKER = join(import.meta.dirname, '../../examples/shell-worker.sh')
const hasCurl = spawnSync('curl', ['--version']).status === 0
const skip = !hasCurl && 'needs curl (Debian: apt install curl)'

async function conforms(script: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn('sh', [join(import.meta.dirname, script)], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  }
  const [code] = (await once(child, 'close')) as [number | null]
  assert.equal(code, 0, output)
  assert.doesNotMatch(output, /^FAIL/m)
  assert.ok((output.match(/^ok/gm)?.length ?? 0) >= 25, output)
}

/** A server without workers that soon declares silent compat workers dead. */
const WITHOUT_WORKERS = ['--slots', '0', '--plain-ttl', `${Math.ceil(6 * slowdownFactor())}s`]

function tokenOf({ dataDir }: PunctualHome): string {
  return readFileSync(join(dataDir, 'admin-token'), 'utf8').trim()
}

test('the REST scheduler, without a token', { skip }, async (t) => {
  const URL = await openHome(t).up('--open', ...WITHOUT_WORKERS)
  await conforms('s1.sh', { URL })
})

test('the REST scheduler, with a token', { skip }, async (t) => {
  const home = openHome(t)
  const URL = await home.up(...WITHOUT_WORKERS)
  await conforms('s1.sh', { URL, TOKEN: tokenOf(home) })
})

test('the production service set, without a token', { skip }, async (t) => {
  const URL = await openHome(t).up('--open')
  await conforms('s4.sh', { URL })
})

test('the production service set, with a token of a project', { skip }, async (t) => {
  const home = openHome(t)
  const URL = await home.up()
  const { token } = (await post(
    URL,
    '/v1/tokens',
    { name: 'till', role: 'admin' },
    {
      authorization: `Bearer ${tokenOf(home)}`,
      'punctual-project': 'till',
    },
  )) as { token: string }
  await conforms('s4.sh', { URL, TOKEN: token, PROJECT: 'till' })
})

/** `complained` grows with the error output of the worker. */
function startShellWorker(t: TestContext, script: string, name: string, url: string) {
  const worker = spawn('sh', [script, name, url], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  const errors = { complained: '' }
  worker.stderr.on('data', (chunk: Buffer) => (errors.complained += chunk.toString()))
  const exited = once(worker, 'exit')
  t.after(async () => {
    // Everything it has started is in its group.
    if (worker.exitCode === null && worker.signalCode === null)
      process.kill(-worker.pid!, 'SIGKILL')
    await exited
  })
  return errors
}

async function runCompatJob(url: string, command: string) {
  const { id } = (await post(url, '/jobs', { name: 'x', command })) as WireCompatJob
  return waitFor(
    async () => {
      const answer = await fetch(`${url}/jobs/${id}`)
      const { last_run: last } = (await answer.json()) as WireCompatJobDetail
      return last?.end_time ? last : undefined
    },
    { what: `job ${id} to end`, deadlineMs: 60_000 },
  )
}

test('a shell worker of twenty lines takes jobs and finishes them', { skip }, async (t) => {
  const lines = readFileSync(SHELL_WORKER, 'utf8').split('\n')
  const code = lines.filter((line) => line.trim() && !line.startsWith('#'))
  assert.ok(code.length <= 20, `${code.length} lines`)
  const page = readFileSync(
    join(import.meta.dirname, '../../docs/reference/compatibility.md'),
    'utf8',
  )
  assert.ok(page.includes(code.join('\n')), 'the page shows another worker')
  const url = await openHome(t).up('--open', ...WITHOUT_WORKERS)
  startShellWorker(t, SHELL_WORKER, 'sh-1', url)
  const command = `printf '%s|' "it's" 'a\\nb' '"q"' "$((1 + 1))" '\\' ; echo; echo "über\tall" >&2`
  const good = await runCompatJob(url, command)
  assert.deepEqual(
    [good.status, good.worker_id, good.logs],
    ['success', 'sh-1', `it's|a\\nb|"q"|2|\\|\nüber\tall\n`],
  )
  assert.equal((await runCompatJob(url, 'echo no; exit 3')).status, 'failure')
})

test('with --plain-empty json, a worker of the original MVP works', { skip }, async (t) => {
  const url = await openHome(t).up('--open', ...WITHOUT_WORKERS, '--plain-empty', 'json')
  const worker = startShellWorker(t, MVP_WORKER, 'mvp', url)
  const ended = async (command: string) => {
    const { status, exit_code: code, logs, worker_id: name } = await runCompatJob(url, command)
    return { status, code, logs, name }
  }
  const good = await ended('echo "a b"')
  assert.deepEqual(
    good,
    { status: 'success', code: 0, logs: 'a b', name: 'mvp' },
    worker.complained,
  )
  const bad = await ended('echo no; exit 3')
  assert.deepEqual(bad, { status: 'failure', code: 3, logs: 'no', name: 'mvp' }, worker.complained)
  assert.equal(worker.complained, '')

  await post(url, '/workers/register', { worker_id: 'silent' })
  const empty = await fetch(`${url}/workers/silent/next?empty=204`)
  assert.equal(empty.status, 204, 'a request may ask for the other answer')
})

test('the published worker works where empty answers are JSON', { skip }, async (t) => {
  const url = await openHome(t).up('--open', ...WITHOUT_WORKERS, '--plain-empty', 'json')
  const worker = startShellWorker(t, SHELL_WORKER, 'sh-1', url)
  const { status, logs } = await runCompatJob(url, 'echo "a b"')
  assert.deepEqual([status, logs], ['success', 'a b\n'], worker.complained)
})

async function post(
  url: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<unknown> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return answer.json()
}
