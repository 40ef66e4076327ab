import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { WirePlainJob, WirePlainJobDetail } from '../../src/server/compat/wire.ts'
import { openHome, type PunctualHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

/** What the two older designs promise, tried by scripts that know nothing of ours. */
const SHELL_WORKER = join(import.meta.dirname, '../../examples/shell-worker.sh')
const hasCurl = spawnSync('curl', ['--version']).status === 0
const skip = !hasCurl && 'needs curl (Debian: apt install curl)'

async function conforms(script: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn('sh', [join(import.meta.dirname, script)], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  }
  const [code] = (await once(child, 'close')) as [number | null]
  assert.equal(code, 0, said)
  assert.doesNotMatch(said, /^FAIL/m)
  assert.ok((said.match(/^ok/gm)?.length ?? 0) >= 25, said)
}

/** A server without workers, whose plain workers may be silent for a moment only. */
const WITHOUT_WORKERS = ['--slots', '0', '--plain-ttl', '6s']

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
      ...{ authorization: `Bearer ${tokenOf(home)}`, 'punctual-project': 'till' },
    },
  )) as { token: string }
  await conforms('s4.sh', { URL, TOKEN: token, PROJECT: 'till' })
})

async function startShellWorker(t: TestContext, url: string, name: string): Promise<void> {
  const worker = spawn('sh', [SHELL_WORKER, name, url], { stdio: 'ignore', detached: true })
  t.after(async () => {
    const gone = once(worker, 'exit')
    // Everything it has started is in its group.
    process.kill(-worker.pid!, 'SIGKILL')
    await gone
  })
}

test('a worker of twenty lines of shell takes jobs and finishes them', { skip }, async (t) => {
  const lines = readFileSync(SHELL_WORKER, 'utf8').split('\n')
  const code = lines.filter((line) => line.trim() && !line.startsWith('#'))
  assert.ok(code.length <= 20, `${code.length} lines`)
  const page = readFileSync(
    join(import.meta.dirname, '../../docs/reference/compatibility.md'),
    'utf8',
  )
  assert.ok(page.includes(code.join('\n')), 'the page shows another worker')
  const url = await openHome(t).up('--open', ...WITHOUT_WORKERS)
  await startShellWorker(t, url, 'sh-1')
  const command = `printf '%s|' "it's" 'a\\nb' '"q"' "$((1 + 1))" '\\' ; echo; echo "über\tall" >&2`
  const run = async (what: string) => {
    const { id } = (await post(url, '/jobs', { name: 'x', command: what })) as WirePlainJob
    return waitFor(
      async () => {
        const answer = await fetch(`${url}/jobs/${id}`)
        const { last_run: last } = (await answer.json()) as WirePlainJobDetail
        return last?.end_time ? last : undefined
      },
      { what: `job ${id} to end`, deadlineMs: 60_000 },
    )
  }
  const good = await run(command)
  assert.deepEqual(
    [good.status, good.worker_id, good.logs],
    ['success', 'sh-1', `it's|a\\nb|"q"|2|\\|\nüber\tall\n`],
  )
  assert.equal((await run('echo no; exit 3')).status, 'failure')
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
