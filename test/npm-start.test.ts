import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHome } from './support/punctual-home.ts'
import { waitFor } from './support/wait-for.ts'

const ROOT = join(import.meta.dirname, '..')
/** What `npm start` needs of a checkout. The tests beside it run the sources, and need no build. */
const NEEDED = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src', 'tools', 'native']

test('npm start builds what people are given, and serves with it', async (t) => {
  const home = openHome(t)
  for (const name of NEEDED) cpSync(join(ROOT, name), join(home.dir, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(home.dir, 'node_modules'))
  const npm = spawn('npm', ['start', '--', '--port', '0', '--data', home.dataDir], {
    cwd: home.dir,
    env: home.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // npm does not hand signals on to everybody it started; a group gets them all.
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
  const ended = await fetch(`${address}/v1/runs/${id}?wait=30s`, { headers })
  assert.equal(((await ended.json()) as { state: string }).state, 'succeeded')
})
