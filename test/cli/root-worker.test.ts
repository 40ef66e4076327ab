import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

const skip = process.getuid?.() !== 0 && 'needs root'
const WARNING = /WARNING: this worker is root, and so is every command that names no user\n/g

test('a worker that runs commands as root says so, unless that is meant', { skip }, async (t) => {
  const home = openHome(t)
  const url = await home.up('--slots', '0')
  const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
  const starts: [flags: string[], env: NodeJS.ProcessEnv, warnings: number][] = [
    [['--allow-root'], {}, 0],
    [[], { PUNCTUAL_ALLOW_ROOT: '1' }, 0],
    [['--run-as', 'root'], {}, 0],
    [['--executors', 'http'], {}, 0],
    [[], {}, 1],
  ]
  for (const [flags, env, warnings] of starts) {
    const argv = ['worker', '--server', url, '--token', token, '--name', 'worker', ...flags]
    const { said, child, ended } = home.start(argv, env)
    await waitFor(() => said.out.includes('is connected'), { what: 'it', deadlineMs: 60_000 })
    assert.equal(said.err.match(WARNING)?.length ?? 0, warnings, flags.join(' '))
    const { out, code } = await home.run(['doctor'])
    assert.equal(/^! worker runs commands as root/m.test(out), warnings > 0, out)
    assert.equal(code, 0)
    child.kill('SIGTERM')
    await ended
  }
})

test('so does a server with a worker', { skip }, async (t) => {
  const home = openHome(t)
  for (const [flags, isWarned] of [
    [[], true],
    [['--slots', '0'], false],
    [['--allow-root'], false],
  ] as const) {
    const argv = ['up', '--data', home.dataDir, '--port', '0', ...flags]
    const { said, child, ended } = home.start(argv)
    await waitFor(() => said.out.includes('is ready'), { what: 'it', deadlineMs: 60_000 })
    assert.equal(said.err.match(WARNING) !== null, isWarned, said.err)
    child.kill('SIGTERM')
    await ended
  }
})
