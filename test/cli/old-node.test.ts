import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { BIN, openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

/** A `node` that says it is 20, for machines on which there is no old one to be found. */
const PRETENDER = `#!/bin/sh
exec '${process.execPath}' --import 'data:text/javascript,${encodeURIComponent(
  `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } })`,
)}' "$@"
`

/** `bin/punctual` by its first line, as a shell would start it, under an old Node. */
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
    const said = { out: '' }
    child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()))
    return { child, said, closed: once(child, 'close') as Promise<[number | null, string | null]> }
  }
  return { start }
}

test('under an old Node it goes on with the one it brought', async (t) => {
  const { start } = await openOld(t)
  const { said, closed } = start('exec', '--', 'sh', '-c', 'echo hi; exit 7')
  assert.deepEqual(await closed, [7, null])
  assert.equal(said.out, 'hi\n')
})

test('signals reach it there, and whoever sent them sees how it ended', async (t) => {
  const { start } = await openOld(t)
  const { child, said, closed } = start('exec', '--', 'sh', '-c', 'echo up; sleep 1000')
  await waitFor(() => said.out === 'up\n', { what: 'the run to be up' })
  child.kill('SIGTERM')
  assert.deepEqual(await closed, [null, 'SIGTERM'])
  assert.deepEqual(await start('cancel', '@last').closed, [0, null])
})
