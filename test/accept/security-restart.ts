import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '../support/wait-for.ts'
import type { Check, CheckReport } from './check.ts'

const PUNCTUAL = join(import.meta.dirname, '../../bin/punctual')
/** As often as a run may be lost by default. */
const ROUNDS = 3
const MOST_MS = 3_000

/** How soon a run starts again after its server and worker were killed together. */
export const restartChecks: Check[] = [
  {
    id: 'S7',
    title: 'after kill -9 of `punctual up` and a restart, a run starts again within 3 s',
    run: measureRestarts,
  },
]

async function measureRestarts(report: CheckReport): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'punctual-restart-'))
  const soonest: number[] = []
  let server = await startServer(data)
  try {
    const run = { run: 'sleep 600', retry: { max: 0 }, kill_grace: '0s' }
    const { id } = await server.call<{ id: string }>('POST', '/v1/runs', run)
    await waitFor(() => isRunning(server, id, 1), { what: 'the first attempt' })
    for (let attempt = 2; attempt <= ROUNDS + 1; attempt += 1) {
      await server.kill()
      server = await startServer(data)
      const readyMs = performance.now()
      await waitFor(() => isRunning(server, id, attempt), { what: `attempt ${attempt}` })
      soonest.push(Math.round(performance.now() - readyMs))
    }
  } finally {
    await server.kill()
    rmSync(data, { recursive: true, force: true })
  }
  report.figure('from the server being ready to the next attempt', `${soonest.join(', ')} ms`)
  assert.ok(Math.max(...soonest) <= MOST_MS, `${Math.max(...soonest)} ms`)
}

interface RestartableServer {
  call<T>(method: string, path: string, body?: object): Promise<T>
  kill(): Promise<void>
}

async function isRunning(server: RestartableServer, id: string, attempt: number): Promise<boolean> {
  const run = await server.call<{ state: string; attempt: number }>('GET', `/v1/runs/${id}`)
  return run.state === 'running' && run.attempt === attempt
}

async function startServer(data: string): Promise<RestartableServer> {
  const args = [PUNCTUAL, 'up', '--data', data, '--port', '0']
  const child = spawn(process.execPath, args, { cwd: data, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  }
  const url = await waitFor(() => /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0], {
    what: 'up to listen',
  })
  await waitFor(async () => (await fetch(`${url}/readyz`)).ok, { what: 'a ready server' })
  const token = readFileSync(join(data, 'admin-token'), 'utf8').trim()
  return {
    async call<T>(method: string, path: string, body?: object) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await fetch(`${url}${path}`, { method, headers, ...sent })
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`)
      return (await answer.json()) as T
    },
    kill: () => kill(child),
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
