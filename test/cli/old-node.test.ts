import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { BIN, openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

/** A `node` that reports version 20, for machines without an old one. */
const PRETENDER = `#!/bin/sh
exec '${process.execPath}' --import 'data:text/javascript,${encodeURIComponent(
  `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } })`,
)}' "$@"
`

/** Runs `bin/punctual` by its first line, as a shell would, under an old Node. */
async function openOld(t: TestContext) {
  const home = openHome(t)
  writeFileSync(join(home.dir, 'node'), PRETENDER, { mode: 0o755 })
  await home.up()
  const env = {
    ...home.env,
    PATH: `${home.dir}:${process.env['PATH'] ?? ''}`,
    PUNCTUAL_DATA: home.dataDir,
  }
  const start = (...argv: string[]) => {
    const child = spawn(BIN, argv, { cwd: home.dir, env, stdio: ['ignore', 'pipe', 'inherit'] })
    const output = { out: '' }
    child.stdout.on('data', (chunk: Buffer) => (output.out += chunk.toString()))
    return {
      child,
      output,
      closed: once(child, 'close') as Promise<[number | null, string | null]>,
    }
  }
  return { start }
}

test('under an old Node it restarts with the Node it brings along', async (t) => {
  const { start } = await openOld(t)
  const { output, closed } = start('exec', '--', 'sh', '-c', 'echo hi; exit 7')
  assert.deepEqual(await closed, [7, null])
  assert.equal(output.out, 'hi\n')
})

test('it passes signals on, and returns how the process ended', async (t) => {
  const { start } = await openOld(t)
  const { child, output, closed } = start('exec', '--', 'sh', '-c', 'echo up; sleep 1000')
  await waitFor(() => output.out === 'up\n', { what: 'the run to be up' })
  child.kill('SIGTERM')
  assert.deepEqual(await closed, [null, 'SIGTERM'])
  assert.deepEqual(await start('cancel', '@last').closed, [0, null])
})
