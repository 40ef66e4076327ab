import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

const skip = process.getuid?.() !== 0 && 'needs root'
const WARNING = /WARNING: this worker is root, and so is every command that names no user\n/g

test('a worker that runs commands as root warns, unless that is intended', { skip }, async (t) => {
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
    const { output, child, ended } = home.start(argv, env)
    await waitFor(() => output.out.includes('is connected'), { what: 'it', deadlineMs: 60_000 })
    assert.equal(output.err.match(WARNING)?.length ?? 0, warnings, flags.join(' '))
    const { out, code } = await home.run(['doctor'])
    assert.equal(/^! worker runs commands as root/m.test(out), warnings > 0, out)
    assert.equal(code, 0)
    child.kill('SIGTERM')
    await ended
  }
})

test('a server with a worker warns too', { skip }, async (t) => {
  const home = openHome(t)
  for (const [flags, isWarned] of [
    [[], true],
    [['--slots', '0'], false],
    [['--allow-root'], false],
  ] as const) {
    const argv = ['up', '--data', home.dataDir, '--port', '0', ...flags]
    const { output, child, ended } = home.start(argv)
    await waitFor(() => output.out.includes('is ready'), { what: 'it', deadlineMs: 60_000 })
    assert.equal(output.err.match(WARNING) !== null, isWarned, output.err)
    child.kill('SIGTERM')
    await ended
  }
})
