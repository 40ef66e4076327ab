import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { skipWithout } from '../../../test/support/skip-without.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { Containment } from './messages.ts'
import { killLeftovers } from './leftovers.ts'
import { isCgroupGone, isHierarchySeen, lockNameOf, readLockFile } from './lock-file.ts'
import { nativeLauncher } from './native-binary.ts'
import { missing, open, run } from './testing/running.ts'

/** The levels that this machine offers. */
const LEVELS: Containment[] = []
for (const containment of ['pidns', 'cgroup', 'group'] as const) {
  if (!(await missing({ kind: 'native', containment }))) LEVELS.push(containment)
}
const skip = await missing({ kind: 'native' })
const isRoot = process.getuid?.() === 0
const asRoot = { skip: skip || (isRoot ? false : 'only root can: sudo npm test') }
const MB = 2 ** 20

/** Processes that sleep for exactly this long; each test uses a duration of its own. */
function sleepers(seconds: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\0${seconds}\0`
    } catch {
      return false
    }
  })
}

let naps = 0
function uniqueNap(): string {
  naps += 1
  return `${1_000_000 + process.pid}.${naps}`
}

const openAt = (t: TestContext, containment: Containment | 'auto') =>
  open(t, { kind: 'native', containment })

describe('the lock of a launcher', { skip }, () => {
  const locksFor = (t: TestContext) => {
    const locks = mkdtempSync(join(tmpdir(), 'punctual-locks-'))
    t.after(() => rmSync(locks, { recursive: true }))
    return locks
  }
  const path = async () => ((await nativeLauncher()) as { path: string }).path
  const waitForLocks = async (locks: string) => {
    const files = readdirSync(locks).map((name) => join(locks, name))
    const child = spawn(await path(), ['await', ...files])
    const ended = once(child, 'exit').then(([code]) => code as number)
    return { child, ended }
  }

  for (const containment of LEVELS) {
    test(`is held while it runs, and its file says that all has ended, at level ${containment}`, async (t) => {
      const locks = locksFor(t)
      const launcher = await open(t, { kind: 'native', containment, locks })
      assert.equal(launcher.abilities.holdsLock, true)
      const escape = `env -i setsid sh -c '(env -i setsid sleep 1000 &) ; sleep 1000' >/dev/null 2>&1 & echo up; sleep 1000`
      const one = run(launcher, escape)
      await waitFor(() => one.seen.out === 'up\n', { what: 'the process to be up' })
      const file = join(locks, lockNameOf(launcher.pid) ?? '')
      const before = readLockFile(file)
      assert.equal(before?.hasEnded, false)
      assert.equal(before.cgroup !== undefined, containment === 'cgroup')
      assert.ok(!before.cgroup || (isHierarchySeen(before.cgroup) && !isCgroupGone(before.cgroup)))
      const { child, ended } = await waitForLocks(locks)
      assert.equal(child.exitCode, null)
      launcher.close()
      await launcher.ended
      assert.equal(await ended, 0)
      assert.equal(readLockFile(file)?.hasEnded, true)
      assert.ok(!before.cgroup || isCgroupGone(before.cgroup))
    })
  }

  test('is free when it was killed with its inits, and its file does not say that all has ended', async (t) => {
    const locks = locksFor(t)
    const launcher = await open(t, { kind: 'native', locks })
    const one = run(launcher, 'echo up; sleep 1000')
    await waitFor(() => one.seen.out === 'up\n', { what: 'the process to be up' })
    const { ended } = await waitForLocks(locks)
    process.kill(launcher.pid, 'SIGKILL')
    assert.equal(await ended, 0)
    const left = readdirSync(locks).map((name) => readLockFile(join(locks, name))?.hasEnded)
    assert.deepEqual(left, [false])
  })

  test('that cannot be taken is reported, and the launcher works without it', async (t) => {
    const launcher = await open(t, { kind: 'native', locks: '/no/such' })
    assert.equal(launcher.abilities.holdsLock, false)
    assert.match(launcher.abilities.why, /no lock can be taken at \/no\/such\//)
    assert.equal(await run(launcher, 'true').ended, 'code 0')
  })

  test('leaves no file if the launcher is refused', async (t) => {
    const locks = locksFor(t)
    await assert.rejects(open(t, { kind: 'native', containment: 'none' as 'group', locks }))
    // The refusal arrives before the launcher has exited and removed its file.
    await waitFor(() => readdirSync(locks).length === 0, { what: 'the lock file to be removed' })
  })
})

describe('every process that an attempt has started', { skip }, () => {
  for (const containment of LEVELS) {
    test(`ends with it, even if it dropped session, group and environment, at level ${containment}`, async (t) => {
      const launcher = await openAt(t, containment)
      const nap = uniqueNap()
      const escape = `env -i setsid sh -c '(env -i setsid sleep ${nap} &) ; sleep ${nap} & sleep ${nap}' >/dev/null 2>&1 &
        while [ $(grep -lsa 'sleep.${nap}' /proc/[0-9]*/cmdline | grep -v /$$/ | wc -l) -lt 4 ]; do sleep 0.02; done`
      assert.equal(await run(launcher, escape).ended, 'code 0')
      assert.deepEqual(sleepers(nap), [])
    })

    test(`dies when its launcher is killed, at level ${containment}`, async (t) => {
      // A separate directory for notes: any worker that starts kills what it finds in the default
      // one.
      const notes = mkdtempSync(join(tmpdir(), 'punctual-notes-'))
      t.after(() => rmSync(notes, { recursive: true }))
      const launcher = await open(t, { kind: 'native', containment, notes })
      const nap = uniqueNap()
      // At this level, without a launcher, a process that dropped everything cannot be found.
      const away = containment === 'group' ? 'setsid' : 'env -i setsid'
      const one = run(launcher, `${away} sleep ${nap} >/dev/null 2>&1 & sleep ${nap}`)
      await waitFor(() => sleepers(nap).length === 2, { what: 'both to sleep' })
      process.kill(launcher.pid, 'SIGKILL')
      assert.equal(await one.ended, 'abandoned')
      await waitFor(() => sleepers(nap).length === 0, { what: 'both to be dead' })
      await waitFor(() => killLeftovers(notes) === 0 && cgroupsOf(launcher.pid).length === 0, {
        what: 'its control groups to go',
      })
      assert.deepEqual(readdirSync(notes), [])
    })
  }

  test('is not touched while its launcher runs', async (t) => {
    const launcher = await openAt(t, 'group')
    const nap = uniqueNap()
    const one = run(launcher, `sleep ${nap}`)
    await waitFor(() => sleepers(nap).length === 1, { what: 'it to sleep' })
    killLeftovers()
    assert.equal(sleepers(nap).length, 1)
    one.child.stop(0)
    await one.ended
  })
})

/** The cgroups that a launcher has made. */
function cgroupsOf(pid: number): string[] {
  return execFileSync('find', ['/sys/fs/cgroup', '-maxdepth', '6', '-name', `punctual.*.${pid}.*`])
    .toString()
    .split('\n')
    .filter(Boolean)
}

test(
  'in a PID namespace an attempt sees only its own processes, none of earlier attempts',
  asRoot,
  async (t) => {
    const launcher = await openAt(t, 'pidns')
    for (let round = 0; round < 3; round += 1) {
      const one = run(
        launcher,
        'sleep 100 & [ -e /proc/$!/stat ] && set -- /proc/[0-9]* && echo $#',
      )
      assert.equal(await one.ended, 'code 0')
      // The init, the shell and the sleeper.
      assert.equal(one.seen.out.trim(), '3')
    }
  },
)

test('secret files are hidden only where no mount can propagate to the host', asRoot, async (t) => {
  const launcher = await openAt(t, 'pidns')
  // In each of these, the mount above may be shared, so the whole machine could see the new mount.
  const outer = mkdtempSync('/dev/shm/punctual-nested-')
  const inner = mkdtempSync(join(outer, 'room-'))
  const other = mkdtempSync(join(tmpdir(), 'punctual-room-'))
  for (const path of [outer, other]) t.after(() => rmSync(path, { recursive: true }))
  for (const directory of [other, inner]) {
    const files = [{ name: 'one', mode: 0o600, content: 'first' }]
    const look = `cat ${directory}/one; grep -c punctual-secrets /proc/self/mountinfo`
    const one = run(launcher, look, { secretFiles: { directory, files } })
    await one.ended
    assert.equal(one.seen.out, 'first0\n')
    assert.deepEqual(readdirSync(directory), [])
  }
})

test('a mount in one attempt is not visible in the next', asRoot, async (t) => {
  const launcher = await openAt(t, 'pidns')
  const mount =
    'mount --make-rprivate / && mount -t tmpfs punctual-test /mnt && grep -c punctual-test /proc/mounts'
  const first = run(launcher, mount)
  await first.ended
  const later = run(launcher, 'grep -c punctual-test /proc/mounts')
  await later.ended
  assert.deepEqual([first.seen.out, later.seen.out], ['1\n', '0\n'])
})

test('a process gets three descriptors and no others', { skip }, async (t) => {
  const one = run(await openAt(t, 'auto'), 'ls /proc/$$/fd')
  await one.ended
  assert.equal(one.seen.out, '0\n1\n2\n')
})

describe('limits', asRoot, () => {
  for (const containment of LEVELS) {
    test(`of memory kill the attempt as a whole, at level ${containment}`, async (t) => {
      const launcher = await openAt(t, containment)
      const hog =
        'setsid sleep 1000 & head -c 200000000 /dev/zero | tail -c 150000000 | wc -c; sleep 1000'
      const one = run(launcher, hog, { limits: { memoryBytes: 32 * MB } })
      const modest = run(launcher, 'echo fine', { limits: { memoryBytes: 32 * MB } })
      assert.equal(await one.ended, 'signal SIGKILL')
      assert.deepEqual([one.seen.details?.oom, one.left()], [true, []])
      assert.equal(await modest.ended, 'code 0')
      assert.deepEqual([modest.seen.details?.oom, modest.seen.out], [undefined, 'fine\n'])
    })
  }

  test('of processes are enforced and counted', async (t) => {
    const launcher = await openAt(t, 'auto')
    const many = 'for n in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; echo no'
    const one = run(launcher, many, { limits: { pids: 5 } })
    assert.notEqual(await one.ended, 'code 0')
    assert.match(one.seen.err, /fork/)
    assert.ok((one.seen.details?.pidsRefused ?? 0) > 0)
    const few = run(launcher, 'sleep 0 & wait', { limits: { pids: 5 } })
    assert.equal(await few.ended, 'code 0')
    assert.equal(few.seen.details?.pidsRefused, undefined)
  })

  test('of CPU and files are set', async (t) => {
    const launcher = await openAt(t, 'auto')
    const look =
      'ulimit -n; ulimit -c; d=$(grep ":cpu:" /proc/self/cgroup | cut -d: -f3); ' +
      '[ -n "$d" ] && cat /sys/fs/cgroup/cpu$d/cpu.cfs_quota_us || cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/cpu.max'
    const one = run(launcher, look, { limits: { cpu: 0.25, files: 77 } })
    assert.equal(await one.ended, 'code 0')
    assert.match(one.seen.out, /^77\n0\n25000/)
  })

  test('that cannot be set do not close the shared empty input', async (t) => {
    const launcher = await openAt(t, 'auto')
    const one = run(launcher, 'cat', { stdin: 'x', limits: { pids: 2 ** 31 } })
    assert.match(await one.ended, /^unstartable: it cannot be contained/)
    const later = Array.from({ length: 4 }, () => run(launcher, 'readlink /proc/self/fd/0'))
    for (const { ended, seen } of later) {
      assert.equal(await ended, 'code 0')
      assert.equal(seen.out, '/dev/null\n')
    }
  })
})

/** The launcher, started by another program. */
async function startedBy(t: TestContext, command: string): Promise<string> {
  const found = await nativeLauncher()
  assert.ok('path' in found)
  const directory = mkdtempSync(join(tmpdir(), 'punctual-started-by-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'launcher')
  writeFileSync(path, `#!/bin/sh\nexec ${command} ${found.path} "$@"\n`, { mode: 0o700 })
  return path
}

/** The launcher on a machine where one system call always fails. */
function withoutCall(t: TestContext, call: string, error = 'EAGAIN'): Promise<string> {
  const inject = `-e trace=${call} -e inject=${call}:error=${error}`
  return startedBy(t, `strace -f -qq -o /dev/null ${inject}`)
}

/** As a service manager starts it: not root, but with the capabilities it needs. */
function withAmbient(t: TestContext): Promise<string> {
  const some = '+setuid,+setgid,+sys_admin,+sys_chroot,+sys_ptrace,+dac_override,+kill'
  const given = `--inh-caps ${some} --ambient-caps ${some}`
  return startedBy(t, `setpriv --reuid 12345 --regid 12345 --clear-groups ${given}`)
}

describe('another user', asRoot, () => {
  const user = { uid: 65534, gid: 65534, groups: [65534] }

  for (const containment of LEVELS) {
    test(`is the only identity of the process, permanently, at level ${containment}`, async (t) => {
      const launcher = await openAt(t, containment)
      const one = run(launcher, 'grep -E "^(Uid|Gid|Groups|NoNewPrivs)" /proc/self/status', {
        user,
      })
      assert.equal(await one.ended, 'code 0')
      const all = '65534\t65534\t65534\t65534'
      assert.equal(one.seen.out, `Uid:\t${all}\nGid:\t${all}\nGroups:\t65534 \nNoNewPrivs:\t1\n`)
    })
  }

  for (const containment of LEVELS) {
    test(
      `has no capabilities, even if a non-root launcher has some, at level ${containment}`,
      { skip: skipWithout('setpriv', 'util-linux') },
      async (t) => {
        const native = await withAmbient(t)
        const launcher = await open(t, { kind: 'native', containment, native })
        const look = 'grep -E "^(Uid|Cap(Inh|Prm|Eff|Amb))" /proc/self/status'
        const one = run(launcher, look, { user })
        assert.equal(await one.ended, 'code 0')
        const none = ['Inh', 'Prm', 'Eff', 'Amb'].map((set) => `Cap${set}:\t${'0'.repeat(16)}\n`)
        assert.equal(one.seen.out, `Uid:\t65534\t65534\t65534\t65534\n${none.join('')}`)
      },
    )
  }

  for (const call of ['setgroups', 'setgid', 'setuid', 'prctl', 'capset']) {
    test(`starts nothing if ${call} fails`, { skip: skipWithout('strace') }, async (t) => {
      const native = await withoutCall(t, call)
      const launcher = await open(t, { kind: 'native', containment: 'group', native })
      const one = run(launcher, 'echo started', { user })
      assert.match(await one.ended, /^unstartable: it cannot run as that user on this machine/)
      assert.equal(one.seen.out, '')
    })
  }
})

test(
  'a process that cannot be recorded is not started, with a reason',
  { skip: skip || skipWithout('strace') },
  async (t) => {
    const native = await withoutCall(t, 'pwrite64', 'ENOSPC')
    const launcher = await open(t, { kind: 'native', containment: 'group', native })
    const one = run(launcher, 'echo started')
    assert.equal(
      await one.ended,
      'unstartable: its start cannot be recorded: No space left on device',
    )
    assert.equal(one.seen.out, '')
  },
)
