import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { LauncherOptions } from './launcher.ts'
import type { SecretFiles } from './messages.ts'
import { FAR_FUTURE, missing, open, openFor, run } from './testing/running.ts'

/** In memory where that is possible, as in a worker. */
function secretsFor(t: TestContext): SecretFiles & { left(): string[] } {
  const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  const directory = mkdtempSync(join(place, 'punctual-contract-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const files = [
    { name: 'one', mode: 0o600, content: 'first' },
    { name: 'two', mode: 0o644, content: 'x'.repeat(65_536) },
  ]
  return { directory, files, left: () => readdirSync(directory) }
}

/** The behaviour of every launcher, at every level of containment that it offers. */
export async function launcherContract(name: string, options: LauncherOptions): Promise<void> {
  describe(name, { skip: await missing(options) }, () => {
    test('the output of a process and its end are reported, in that order', async (t) => {
      const launcher = await open(t, options)
      const one = run(launcher, 'echo out; echo err >&2; exit 7')
      assert.equal(await one.ended, 'code 7')
      assert.deepEqual([one.seen.out, one.seen.err], ['out\n', 'err\n'])
      assert.equal(await run(launcher, 'kill -9 $$').ended, 'signal SIGKILL')
      assert.equal(await run(launcher, 'true').ended, 'code 0')
      assert.equal(launcher.load, 0)
    })

    test('a process gets its input, directory, umask and only the given environment', async (t) => {
      const launcher = await open(t, options)
      const dir = mkdtempSync(join(tmpdir(), 'punctual-launcher-'))
      t.after(() => rmSync(dir, { recursive: true }))
      const one = run(launcher, 'cat; pwd; umask; env | cut -d= -f1 | sort', {
        stdin: 'given\n',
        cwd: dir,
        umask: 0o027,
        env: { PATH: process.env['PATH'] ?? '', A: 'b' },
      })
      await one.ended
      assert.equal(one.seen.out, `given\n${dir}\n0027\nA\nPATH\nPWD\n`)
      const without = run(launcher, 'umask; cat', {})
      await without.ended
      assert.notEqual(without.seen.out, '0027\n')
    })

    test('secret files exist while the process runs, and are deleted when it has ended', async (t) => {
      const launcher = await open(t, options)
      const secretFiles = secretsFor(t)
      const look = `cd ${secretFiles.directory} && cat one && wc -c < two && stat -c %a one two`
      const one = run(launcher, `${look}; read end`, { stdin: '\n', secretFiles })
      assert.equal(await one.ended, 'code 0')
      assert.equal(one.seen.out.replaceAll(/\s+/g, ' '), 'first65536 600 644 ')
      assert.deepEqual(secretFiles.left(), [])
      const unstartable = run(launcher, '', { file: '/no/such', secretFiles })
      assert.match(await unstartable.ended, /^unstartable: the program/)
      assert.deepEqual(secretFiles.left(), [])
    })

    test('secret files are deleted with the worker; where they can be hidden, no other process sees them', async (t) => {
      const launcher = await open(t, options)
      const secretFiles = secretsFor(t)
      const one = run(launcher, `cat ${secretFiles.directory}/one; sleep 1000`, { secretFiles })
      await waitFor(() => one.seen.out === 'first', { what: 'the process to have read it' })
      assert.deepEqual(secretFiles.left(), launcher.abilities.hidesFiles ? [] : ['one', 'two'])
      launcher.close()
      await launcher.ended
      assert.deepEqual(secretFiles.left(), [])
    })

    test('no secret file overwrites another file or leaves its directory', async (t) => {
      const launcher = await open(t, options)
      const secretFiles = secretsFor(t)
      if (!launcher.abilities.hidesFiles) {
        writeFileSync(join(secretFiles.directory, 'one'), 'before')
        assert.match(
          await run(launcher, 'true', { secretFiles }).ended,
          /^unstartable: its secret files cannot be written: /,
        )
      }
      assert.equal(await run(launcher, 'true').ended, 'code 0')
    })

    for (const [why, extra, message] of [
      ['a program that is not there', { file: '/no/such' }, 'the program /no/such was not found'],
      [
        'a directory that is not there',
        { cwd: '/no/such' },
        'the directory /no/such does not exist',
      ],
      [
        'a file that is no program',
        { file: '/etc/passwd' },
        'the program /etc/passwd may not be executed',
      ],
    ] as const) {
      test(`${why} is reported as missing`, async (t) => {
        const launcher = await open(t, options)
        assert.equal(await run(launcher, '', extra).ended, `unstartable: ${message}`)
      })
    }

    test('a process has ended when it exits, even if a child keeps its output open', async (t) => {
      const launcher = await open(t, options)
      const one = run(launcher, 'sleep 1000 & echo started')
      assert.equal(await one.ended, 'code 0')
      assert.deepEqual(one.left(), [])
    })

    test('a child in a session of its own ends with the process that started it', async (t) => {
      const launcher = await open(t, options)
      const one = run(launcher, 'setsid sleep 1000 >/dev/null 2>&1 & sleep 0.1')
      assert.equal(await one.ended, 'code 0')
      assert.deepEqual(one.left(), [])
    })

    test('a process that times out is asked to end, and the report names the cause', async (t) => {
      const launcher = await open(t, options)
      const listens = run(launcher, "trap 'exit 3' TERM; while :; do sleep 0.05; done", {
        timeoutMs: 300,
        graceMs: 60_000,
      })
      const deaf = run(launcher, "trap '' TERM; while :; do sleep 0.05; done", {
        timeoutMs: 50,
        graceMs: 50,
      })
      const quick = run(launcher, 'true', { timeoutMs: 60_000, graceMs: 0 })
      assert.equal(await listens.ended, 'code 3')
      assert.equal(await deaf.ended, 'signal SIGKILL')
      assert.equal(await quick.ended, 'code 0')
      assert.deepEqual(
        [listens, deaf, quick].map(({ seen }) => seen.details?.timedOut),
        [true, true, undefined],
      )
    })

    test("a process inherits nothing of the launcher's own", async (t) => {
      const look =
        'for n in 3 4; do [ -e /proc/$$/fd/$n ] && echo $n; done; grep -E "^Sig(Blk|Ign)" /proc/self/status'
      const one = run(await open(t, options), look)
      assert.equal(await one.ended, 'code 0')
      assert.equal(one.seen.out, `SigBlk:\t${'0'.repeat(16)}\nSigIgn:\t${'0'.repeat(16)}\n`)
    })

    test('the launcher reaps all its children', async (t) => {
      const launcher = await open(t, options)
      const many = Array.from({ length: 50 }, () => run(launcher, '(sleep 0.01 &) ; setsid true &'))
      for (const one of many) assert.equal(await one.ended, 'code 0')
      await waitFor(() => deadChildrenOf(launcher.pid).length === 0, {
        what: 'the dead children to be reaped',
      })
    })

    test('a text that no program can receive is refused, without harm to other processes', async (t) => {
      const launcher = await open(t, options)
      const one = run(launcher, 'true', { args: ['-c', 'echo a\0b'] })
      assert.match(await one.ended, /^unstartable: /)
      assert.equal(await run(launcher, 'true').ended, 'code 0')
    })

    test('unread input is not an error, and large input arrives', async (t) => {
      const launcher = await open(t, options)
      const stdin = 'x'.repeat(1_000_000)
      assert.equal(await run(launcher, 'true', { stdin }).ended, 'code 0')
      const counted = run(launcher, 'wc -c', { stdin })
      assert.equal(await counted.ended, 'code 0')
      assert.equal(counted.seen.out.trim(), '1000000')
    })

    test('the last output is kept for a worker that could not read it yet', async (t) => {
      const launcher = await open(t, options)
      const one = run(launcher, 'echo first; exec sleep 0.2')
      one.child.pause()
      const later = run(launcher, 'sleep 1')
      assert.equal(await later.ended, 'code 0')
      one.child.resume()
      assert.equal(await one.ended, 'code 0')
      assert.equal(one.seen.out, 'first\n')
    })

    test('a stopped process gets a signal first, and its last output is reported', async (t) => {
      const launcher = await open(t, options)
      const one = run(
        launcher,
        "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.05; done",
      )
      await waitFor(() => one.seen.out === 'up\n', { what: 'the process to be up' })
      one.child.stop(60_000)
      assert.equal(await one.ended, 'code 3')
      assert.equal(one.seen.out, 'up\nbye\n')
    })

    test('a process that ignores the signal is killed after the grace, with everything it started', async (t) => {
      const launcher = await open(t, options)
      const tree = `trap '' TERM; setsid sh -c 'sleep 1000 & sleep 1000' & (sleep 1000 &) ; echo up; while :; do sleep 1000; done`
      const one = run(launcher, tree)
      await waitFor(() => one.seen.out === 'up\n' && one.left().length >= 5, {
        what: 'the tree to be up',
      })
      one.child.stop(50)
      assert.equal(await one.ended, 'signal SIGKILL')
      assert.deepEqual(one.left(), [])
    })

    test('without a grace the whole tree is killed at once', async (t) => {
      const launcher = await open(t, options)
      const one = run(launcher, "trap 'echo heard' TERM; sleep 1000 & echo up; wait")
      await waitFor(() => one.seen.out === 'up\n', { what: 'the process to be up' })
      one.child.stop(0)
      assert.equal(await one.ended, 'signal SIGKILL')
      assert.equal(one.seen.out, 'up\n')
      assert.deepEqual(one.left(), [])
    })

    test('a fork bomb is killed as a whole', async (t) => {
      const launcher = await open(t, options)
      const fork =
        'n() { sleep 0.2 & [ $1 -gt 0 ] && n $(($1 - 1)); }; echo up; while :; do n 3; sleep 0.01; done'
      const one = run(launcher, fork)
      await waitFor(() => one.left().length > 20, { what: 'the forks to be many' })
      one.child.stop(0)
      await one.ended
      assert.deepEqual(one.left(), [])
    })

    test('when the lifeline is not renewed, all processes are killed, and no new ones start', async (t) => {
      const { launcher, lifeline } = await openFor(t, 300_000_000n, options)
      const one = run(launcher, 'sleep 1000 & sleep 1000')
      assert.equal(await one.ended, 'signal SIGKILL')
      assert.equal(one.seen.details?.leaseExpired, true)
      assert.deepEqual(one.left(), [])
      assert.equal(await run(launcher, 'true').ended, 'unstartable: the lease has expired')
      lifeline.renew(process.hrtime.bigint() + FAR_FUTURE)
      assert.equal(await run(launcher, 'true').ended, 'code 0')
    })

    test('a launcher whose worker is gone kills all processes', async (t) => {
      const launcher = await open(t, options)
      const one = run(launcher, 'setsid sleep 1000 & sleep 1000')
      await waitFor(() => one.left().length === 3, { what: 'the tree to be up' })
      launcher.close()
      await launcher.ended
      assert.deepEqual(one.left(), [])
      assert.equal(one.seen.end, 'abandoned')
    })

    test('a process whose output is not read waits, while others continue', async (t) => {
      const launcher = await open(t, options)
      const loud = run(launcher, 'head -c 3000000 /dev/zero | tr "\\0" x')
      loud.child.pause()
      const quiet = run(launcher, 'echo hi')
      assert.equal(await quiet.ended, 'code 0')
      assert.equal(loud.seen.end, undefined)
      loud.child.resume()
      assert.equal(await loud.ended, 'code 0')
      assert.equal(loud.seen.out.length, 3_000_000)
    })

    test('a launcher needs little memory, however much its worker has', async (t) => {
      const launcher = await open(t, options)
      const status = readFileSync(`/proc/${launcher.pid}/status`, 'utf8')
      const kb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])
      assert.ok(kb < 100_000, `${kb} kB`)
    })
  })
}

/** Zombies among a process's children. */
function deadChildrenOf(parent: number): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const [state, of] = readFileSync(`/proc/${pid}/stat`, 'latin1')
        .replace(/.*\) /s, '')
        .split(' ')
      return Number(of) === parent && state === 'Z'
    } catch {
      return false
    }
  })
}
