import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { exhaustDescriptors } from '../../../../test/support/exhaust-descriptors.ts'
import { skipWithout } from '../../../../test/support/skip-without.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { openLifelineFile } from '../../launcher/lifeline.ts'
import { systemClock } from '../../clock/system-clock.ts'
import { createEngine } from './engine.ts'
import { createJanitor } from './janitor.ts'

const skip = process.platform === 'win32' && 'needs a shell'

/** A janitor whose engine records the commands it receives. */
function open(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-janitor-'))
  const command = join(dir, 'podman')
  writeFileSync(command, `#!/bin/sh\necho "$@" >> ${dir}/asked\n`, { mode: 0o755 })
  const lifeline = openLifelineFile()
  lifeline.renew(process.hrtime.bigint() + 3_600_000_000_000n)
  const errors: unknown[] = []
  const janitor = createJanitor(createEngine(command), lifeline.fd, {
    clock: systemClock,
    onError: (error: unknown) => errors.push(error),
  })
  t.after(async () => {
    await janitor.close()
    lifeline.close()
    rmSync(dir, { recursive: true })
  })
  const pids = () =>
    spawnSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter((line) => line.includes('janitor-main') && line.includes(dir))
      .map((line) => Number.parseInt(line, 10))
  const kill = async () => {
    const [pid = 0] = pids()
    process.kill(pid, 'SIGKILL')
    await waitFor(() => !pids().includes(pid), { what: 'its end' })
  }
  return { janitor, errors, pids, kill, asked: () => readFileSync(join(dir, 'asked'), 'utf8') }
}

test(
  'a killed janitor is replaced by one that watches the running containers',
  { skip },
  async (t) => {
    const { janitor, errors, pids, kill, asked } = open(t)
    await janitor.watch('one')
    await janitor.watch('two')
    janitor.release('two')
    await kill()
    await waitFor(() => pids().length === 1, { what: 'its successor', deadlineMs: 10_000 })
    await janitor.close()
    assert.match(asked(), /^rm .* one\n$/)
    assert.deepEqual([pids(), errors], [[], []])
  },
)

test(
  'a replacement janitor that cannot be started is retried until one starts',
  { skip },
  async (t) => {
    const { janitor, errors, pids, kill } = open(t)
    await janitor.watch('one')
    const path = process.execPath
    t.after(() => void (process.execPath = path))
    process.execPath = '/no/such/node'
    await kill()
    await waitFor(() => errors.length > 1, { what: 'tries in vain', deadlineMs: 10_000 })
    await assert.rejects(janitor.watch('two'), /could not be started/)
    janitor.release('two')
    process.execPath = path
    await waitFor(() => pids().length === 1, { what: 'its successor', deadlineMs: 10_000 })
  },
)

test(
  'a janitor that fails for lack of descriptors fails one attempt, and starts for the next',
  { skip: skipWithout('prlimit', 'util-linux') },
  async (t) => {
    const { janitor } = open(t)
    const giveBack = exhaustDescriptors(t)
    const watched = janitor.watch('a')
    janitor.release('a')
    janitor.detach()
    await assert.rejects(watched, /could not be started/)
    giveBack()
    await janitor.watch('b')
    janitor.release('b')
  },
)
