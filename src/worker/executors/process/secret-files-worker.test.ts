import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { findAttemptProcesses } from '../../launcher/process-tree.ts'
import { probeLauncher } from '../../launcher/probe.ts'
import type { LauncherOptions } from '../../launcher/launcher.ts'
import { openProcessWorker, sh } from '../../testing/process-worker.ts'
import { removeDeadWorkerDirectories } from '../files/worker-directory.ts'
import { secretFilesKind, findSecretDirectory } from '../files/secret-directory.ts'

const skip = process.platform !== 'linux' && 'processes are found in /proc'
const at = (path: string) => new URL(path, import.meta.url).href

/** A worker process with an attempt that reads its secret and keeps running. */
const WORKER = `
  import { createFakeScheduler, LONG_LEASE } from '${at('../../testing/fake-scheduler.ts')}'
  import { systemClock } from '${at('../../clock/system-clock.ts')}'
  import { createWorker } from '${at('../../worker.ts')}'
  const [run, launcher, containment] = process.argv.slice(1)
  const client = createFakeScheduler(systemClock, LONG_LEASE)
  const processes = { launcher, containment, launchers: 1 }
  await createWorker({ client, name: 'w', slots: 1, processes }).start()
  const command = 'cat $KEY_FILE >/dev/null && echo "$KEY_FILE" > "$SEEN.new" && mv "$SEEN.new" "$SEEN"; sleep 1000'
  const work = { executor: 'shell', run: command, env: { SEEN: process.env.SEEN } }
  client.submit(run, { work, secrets: [{ name: 'KEY', as: 'file', value: 'a key of many letters' }] })
  process.stdin.resume()`

async function startWorker(t: TestContext, { kind, containment }: LauncherOptions) {
  const home = mkdtempSync(join(tmpdir(), 'punctual-secret-test-'))
  t.after(() => rmSync(home, { recursive: true }))
  const seen = join(home, 'seen')
  const run = `run_${process.pid}_${kind}_${containment}`
  const args = ['--input-type=module', '-e', WORKER, run, String(kind), String(containment)]
  const worker = spawn(process.execPath, args, {
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { ...process.env, TMPDIR: home, SEEN: seen },
  })
  t.after(() => worker.kill('SIGKILL'))
  const processes = () => findAttemptProcesses({ run, fence: '1' })
  const path = await waitFor(() => (existsSync(seen) ? readPath(seen) : undefined), {
    what: 'the attempt to have read its secret',
    deadlineMs: 60_000,
  })
  return { worker, path, processes }
}

const readPath = (file: string) => readFileSync(file, 'utf8').trim()

const LEVELS: LauncherOptions[] = [
  { kind: 'native', containment: 'pidns' },
  { kind: 'native', containment: 'cgroup' },
  { kind: 'native', containment: 'group' },
  { kind: 'node', containment: 'group' },
]
for (const options of LEVELS) {
  const abilities = await probeLauncher(options).catch(() => undefined)
  const level = `${options.kind} at level ${options.containment}`
  test(
    `secret files do not survive when their worker is killed (${level})`,
    { skip: skip || (!abilities && 'there is no such launcher here') },
    async (t) => {
      const { worker, path, processes } = await startWorker(t, options)
      assert.equal(existsSync(path), !abilities?.hidesFiles, path)
      worker.kill('SIGKILL')
      await once(worker, 'exit')
      await waitFor(() => processes().length === 0, { what: 'the attempt to be ended' })
      await waitFor(() => !existsSync(path), { what: 'the file to be gone' })
    },
  )
}

test(
  'secret files that a worker and its launcher left are removed by the next worker',
  { skip },
  async (t) => {
    const dead = spawn('true')
    await once(dead, 'exit')
    const world = statSync('/proc/self/ns/pid').ino
    const room = join(findSecretDirectory().path, `punctual-worker-${world}-${dead.pid}-abcdef`)
    mkdirSync(room, 0o711)
    t.after(() => rmSync(room, { recursive: true, force: true }))
    writeFileSync(join(room, 'run_a.1.secret.KEY'), 'a key')
    await removeDeadWorkerDirectories((error) => assert.fail(String(error)))
    assert.ok(!existsSync(room))
  },
)

test('secret files are called private only in the directory that can be hidden', { skip }, () => {
  const shm = { path: '/dev/shm', kind: 'memory' } as const
  const disk = findSecretDirectory(['/proc', '/no/such', undefined])
  assert.deepEqual(disk, { path: tmpdir(), kind: 'disk' })
  const kinds = [shm, { ...shm, path: '/run/user/1000' }, disk].flatMap((place) => {
    return [secretFilesKind(true, place), secretFilesKind(false, place)]
  })
  assert.deepEqual(kinds, ['private', 'memory', 'memory', 'memory', 'disk', 'disk'])
})

const user = await probeLauncher().then(
  ({ canSwitchUser }) => !canSwitchUser && 'the worker cannot switch users here',
)

for (const containment of ['auto', 'group'] as const) {
  test(
    `only the user a command runs as can read its secret (${containment})`,
    { skip: skip || user },
    async (t) => {
      const options = { allowUsers: ['nobody', 'daemon'], containment }
      const { scheduler, perform, textOf } = await openProcessWorker(t, options)
      const secrets = [{ name: 'KEY', as: 'file', value: 'a key of many letters' }] as const
      const look = 'wc -c < $KEY_FILE; stat -c "%a %U" $KEY_FILE; ls $(dirname $KEY_FILE)'
      await perform('run_a', sh(look, { run_as: 'nobody' }), { secrets })
      assert.equal(textOf('run_a'), '21\n600 nobody\n', textOf('run_a', 2))
      const stay = 'echo $KEY_FILE; echo up; sleep 1000'
      scheduler.submit('run_b', {
        work: sh(stay, { run_as: 'nobody', kill_grace_ms: 0 }),
        secrets,
      })
      await waitFor(() => textOf('run_b').includes('up'), { what: 'the one with a secret' })
      const path = textOf('run_b').split('\n')[0] ?? ''
      const steal = `cat ${path}; echo x > ${dirname(path)}/new`
      await perform('run_c', sh(steal, { run_as: 'daemon' }))
      assert.equal(textOf('run_c'), '')
      assert.match(textOf('run_c', 2), /denied|No such file/)
      scheduler.cancel('run_b')
      await waitFor(() => scheduler.ended.get('run_b'), { what: 'the end' })
      assert.ok(!existsSync(path))
    },
  )
}
