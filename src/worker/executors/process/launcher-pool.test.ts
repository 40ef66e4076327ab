import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { exhaustDescriptors } from '../../../../test/support/exhaust-descriptors.ts'
import { skipWithout } from '../../../../test/support/skip-without.ts'
import { createVirtualClock } from '../../../../test/support/virtual-clock.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import type { Assignment, FinishedAttempt } from '../../../core/wire/protocol.ts'
import type { LauncherOptions } from '../../launcher/launcher.ts'
import { openLifelineFile } from '../../launcher/lifeline.ts'
import { nativeLauncher } from '../../launcher/native-binary.ts'
import { startedTicks } from '../../launcher/process-tree.ts'
import { createAttemptFileStore } from '../files/attempt-files.ts'
import { createFullnessWatch } from '../files/fullness-watch.ts'
import { openLaunchers } from './launcher-pool.ts'
import { ProcessAttempt } from './process-attempt.ts'

const found = await nativeLauncher()
const skip = 'why' in found && found.why
const path = 'path' in found ? found.path : ''

/** A worker's launchers on a machine where, from some moment on, no launcher can be started. */
async function openPool(
  t: TestContext,
  options: LauncherOptions = { kind: 'native', containment: 'group' },
) {
  const directory = mkdtempSync(join(tmpdir(), 'punctual-pool-'))
  const native = join(directory, 'launcher')
  const write = (script: string) => {
    writeFileSync(`${native}.new`, `#!/bin/sh\n${script}\n`, { mode: 0o700 })
    renameSync(`${native}.new`, native)
  }
  const mend = () => write(`exec ${path} "$@"`)
  mend()
  const clock = createVirtualClock()
  const lifeline = openLifelineFile()
  lifeline.renew(process.hrtime.bigint() + 3_600_000_000_000n)
  const errors: unknown[] = []
  const pool = await openLaunchers(1, lifeline.fd, {
    ...options,
    native,
    clock,
    onError: (error) => errors.push(error),
  })
  t.after(async () => {
    await pool.close()
    await clock.advance(60_000)
    lifeline.close()
    rmSync(directory, { recursive: true })
  })
  const breakAll = async () => {
    write('exit 1')
    const launcher = await pool.pick()
    process.kill(launcher.pid, 'SIGKILL')
    await waitFor(() => errors.length > 0, { what: 'its successor to fail' })
  }
  return { pool, clock, errors, write, mend, breakAll }
}

const assignment: Assignment = {
  run: 'run_a',
  fence: 1,
  job: 'job',
  project: 'shop',
  attempt: 1,
  weight: 1,
  dueAt: 0,
  timeoutMs: null,
  task: null,
  input: null,
  work: { executor: 'shell', run: 'echo hi' },
}

/** Starts an attempt on the pool and records how it ended. */
function attempt(t: TestContext, { pool, clock }: Awaited<ReturnType<typeof openPool>>) {
  const ends: (FinishedAttempt | undefined)[] = []
  const fileStore = createAttemptFileStore({ clock, onError: assert.ifError })
  t.after(() => fileStore.close())
  const seen = { returns: 0 }
  const hooks = {
    clock,
    onEnd: (_: unknown, done: FinishedAttempt | undefined) => ends.push(done),
    onReturn: () => void (seen.returns += 1),
    onIgnored() {},
    onLost() {},
  }
  const { abilities } = pool
  const one = new ProcessAttempt(assignment, { executor: 'shell', run: 'echo hi' }, hooks, {
    fileStore,
    environment: {},
    directory: '/',
    fullness: createFullnessWatch(clock),
    host: {
      bounds: {},
      users: new Map(),
      defaultUser: undefined,
      abilities,
      uid: 0,
      isRootAllowed: true,
      secretFiles: 'private',
    },
    launchers: pool,
    outputBuffer: { add() {}, remove() {} },
  })
  one.start()
  return { one, ends, seen }
}

/** Advances the clock until the pool has a launcher. */
async function hasLauncher({ pool, clock }: Awaited<ReturnType<typeof openPool>>) {
  const picked = pool.pick()
  if (!(picked instanceof Promise)) return true
  picked.catch(() => {})
  await clock.advance(1_000)
  return false
}

test(
  'an attempt that waits for a launcher gets one as soon as one is ready',
  { skip },
  async (t) => {
    const { pool, clock, mend, breakAll } = await openPool(t)
    await breakAll()
    const picked = Promise.resolve(pool.pick())
    mend()
    await clock.advance(200)
    assert.ok((await picked).pid > 0)
  },
)

test(
  'a replacement launcher has at least the abilities of the first, which were advertised',
  { skip },
  async (t) => {
    const opened = await openPool(t, { kind: 'auto', containment: 'auto' })
    const { abilities } = opened.pool
    // From here on, only weaker launchers work: first the one in Node, then another level.
    await opened.breakAll()
    assert.ok(opened.pool.pick() instanceof Promise)
    opened.write(`[ "$1" = auto ] && set -- group "$2"; exec ${path} "$@"`)
    await waitFor(() => hasLauncher(opened), { what: 'a launcher' })
    const successor = await opened.pool.pick()
    assert.deepEqual(
      [successor.abilities.kind, successor.abilities.containment],
      ['native', abilities.containment],
    )
  },
)

test(
  'a launcher that fails for lack of descriptors is started again',
  { skip: skip || skipWithout('prlimit', 'util-linux') },
  async (t) => {
    const opened = await openPool(t)
    const { pid } = await opened.pool.pick()
    const giveBack = exhaustDescriptors(t)
    process.kill(pid, 'SIGKILL')
    await waitFor(() => opened.errors.length > 0, { what: 'its successor to fail' })
    giveBack()
    assert.match(String(opened.errors), /EMFILE/)
    await waitFor(() => hasLauncher(opened), { what: 'a launcher' })
  },
)

test(
  'an attempt for which no launcher can be started is reported as unstartable',
  { skip },
  async (t) => {
    const opened = await openPool(t)
    await opened.breakAll()
    const { ends, seen } = attempt(t, opened)
    await opened.clock.advance(9_000)
    assert.equal(ends.length, 0)
    await opened.clock.advance(1_000)
    assert.deepEqual([ends[0]?.outcome, ends[0]?.cause], ['failed', 'start_error'])
    assert.match(ends[0]?.message ?? '', /^there is no launcher to start it: a launcher ended/)
    assert.equal(seen.returns, 1)
    // Later attempts are started again.
    opened.mend()
    await waitFor(() => hasLauncher(opened), { what: 'a launcher' })
    const later = attempt(t, opened)
    await waitFor(() => later.ends[0], { what: 'a later one to end' })
    assert.equal(later.ends[0]?.outcome, 'succeeded')
  },
)

for (const [why, outcome] of [
  ['cancelled', 'cancelled'],
  ['draining', 'given_back'],
  ['lease_lost', undefined],
] as const) {
  test(`an attempt that waits for a launcher ends when it is ${why}`, { skip }, async (t) => {
    const opened = await openPool(t)
    await opened.breakAll()
    const { one, ends, seen } = attempt(t, opened)
    one.stop(why)
    assert.deepEqual([ends.map((done) => done?.outcome), seen.returns], [[outcome], 1])
    await opened.clock.advance(20_000)
    assert.equal(ends.length, 1)
  })
}

test('a launcher that `onLauncher` refuses is closed', { skip }, async (t) => {
  const lifeline = openLifelineFile()
  t.after(lifeline.close)
  const pids: number[] = []
  const opening = openLaunchers(1, lifeline.fd, {
    kind: 'native',
    containment: 'group',
    clock: createVirtualClock(),
    onError: assert.ifError,
    onLauncher({ pid }) {
      pids.push(pid)
      throw new Error('it cannot be recorded')
    },
  })
  await assert.rejects(opening, /cannot be recorded/)
  assert.equal(pids.length, 1)
  await waitFor(() => pids.every((pid) => startedTicks(pid) === undefined), { what: 'its end' })
})
