import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHome } from './support/punctual-home.ts'
import { waitFor } from './support/wait-for.ts'

const ROOT = join(import.meta.dirname, '..')
/** The files of a checkout that `npm start` needs. Other tests run the sources and need no build. */
const NEEDED = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src', 'tools', 'native']

test('npm start builds the package and serves with it', async (t) => {
  const home = openHome(t)
  for (const name of NEEDED) cpSync(join(ROOT, name), join(home.dir, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(home.dir, 'node_modules'))
  const npm = spawn('npm', ['start', '--', '--port', '0', '--data', home.dataDir], {
    cwd: home.dir,
    env: home.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // If the test fails, the whole group is killed.
    detached: true,
  })
  let printed = ''
  npm.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  npm.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const closed = once(npm, 'close')
  home.atEnd(async () => {
    if (npm.exitCode === null) process.kill(-(npm.pid as number), 'SIGTERM')
    await closed
  })

  const address = await waitFor(
    () => {
      if (npm.exitCode !== null) throw new Error(`it ended: ${printed}`)
      return /address +(\S+)/.exec(printed)?.[1]
    },
    { what: 'a server that was built', deadlineMs: 120_000 },
  )
  assert.equal((await fetch(`${address}/readyz`)).status, 200)
  assert.equal((await fetch(`${address}/ui`)).status, 200)
  const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ run: 'echo built' })
  const submitted = await fetch(`${address}/v1/runs`, { method: 'POST', headers, body })
  assert.equal(submitted.status, 201)
  const { id } = (await submitted.json()) as { id: string }
  const ended = await fetch(`${address}/v1/runs/${id}?wait=60s`, { headers })
  assert.equal(((await ended.json()) as { state: string }).state, 'succeeded')

  // Only npm gets the signal, as from a supervisor.
  const beacon = readFileSync(join(home.dataDir, 'server.json'), 'utf8')
  const { pid } = JSON.parse(beacon) as { pid: number }
  assert.ok(isAlive(pid))
  process.kill(npm.pid as number, 'SIGTERM')
  await waitFor(() => !isAlive(pid), { what: 'the server to end with npm', deadlineMs: 60_000 })
  await closed
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
