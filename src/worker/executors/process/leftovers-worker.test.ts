import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { findAttemptProcesses, startedTicks } from '../../launcher/process-tree.ts'
import { useOwnTmpdir } from '../../testing/own-tmpdir.ts'
import { openProcessWorker, sh } from '../../testing/process-worker.ts'

const skip = process.platform !== 'linux' && 'processes are found in /proc'
const at = (path: string) => new URL(path, import.meta.url).href

/** A worker process reduced to its launcher, with a running process. */
const EARLIER = `
  import { openLifelineFile } from '${at('../../launcher/lifeline.ts')}'
  import { startLauncher } from '${at('../../launcher/launcher.ts')}'
  const lifeline = openLifelineFile()
  lifeline.renew(process.hrtime.bigint() + 3_600_000_000_000n)
  const launcher = await startLauncher(lifeline.fd, { kind: 'node' })
  const env = { PATH: process.env.PATH, PUNCTUAL_RUN_ID: process.argv[1], PUNCTUAL_FENCE: '7' }
  const started = { file: 'sh', args: ['-c', 'echo up; setsid sleep 1000 & sleep 1000'], env }
  launcher.start(started, { onOutput: () => console.log(launcher.pid), onEnd() {} })
  process.stdin.resume()`

test(
  'processes that outlived a worker and its launchers are killed before the next worker registers',
  { skip },
  async (t) => {
    useOwnTmpdir(t)
    const mark = { run: `run_${process.pid}_left`, fence: '7' }
    const worker = spawn(process.execPath, ['--input-type=module', '-e', EARLIER, mark.run], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    t.after(() => {
      worker.kill('SIGKILL')
      for (const pid of findAttemptProcesses(mark)) process.kill(pid, 'SIGKILL')
    })
    const [said] = (await once(worker.stdout, 'data')) as [Buffer]
    await waitFor(() => findAttemptProcesses(mark).length >= 3, { what: 'all of it to run' })
    // Kill the launcher first: it would kill everything if it noticed the end of its worker.
    const launcher = Number(said.toString())
    process.kill(launcher, 'SIGKILL')
    worker.kill('SIGKILL')
    await once(worker, 'close')
    await waitFor(() => startedTicks(launcher) === undefined, { what: 'the launcher to be dead' })
    assert.ok(findAttemptProcesses(mark).length >= 2)

    const { scheduler, perform } = await openProcessWorker(t)
    assert.deepEqual(findAttemptProcesses(mark), [])
    assert.equal(scheduler.messages('register').length, 1)
    assert.equal((await perform('run_a', sh('true'))).outcome, 'succeeded')
  },
)
