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
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test, type TestContext } from 'node:test'
import { skipWithout } from '../../../test/support/skip-without.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { lockNameOf } from '../../worker/launcher/lock-file.ts'
import { type Identity, nameOf, ownIdentity } from '../../worker/launcher/notes.ts'
import { probeLauncher } from '../../worker/launcher/probe.ts'
import { type SettleOptions, settleFormerProcesses, WAITS } from './former-processes.ts'
import type { RecordedSessions } from './process-record.ts'

const skip = await probeLauncher({ kind: 'native' }).then(
  () => false,
  (error: unknown) => `there is no native launcher: ${String(error)}`,
)
const SESSION = 'ses_1'
const DAY_MS = 24 * 3_600_000

describe(
  'what a former server process left',
  { skip: skip || skipWithout('flock', 'util-linux') },
  () => {
    let dead: Identity
    before(async () => {
      const child = spawn('true')
      await once(child, 'exit')
      dead = { ...ownIdentity(), pid: child.pid ?? 0, started: 1 }
    })

    /** A data directory with the record of an ended process, and its lock files. */
    function leave(
      t: TestContext,
      {
        locks = {},
        process: former = dead,
        ...record
      }: Partial<RecordedSessions> & { locks?: Record<string, string>; process?: Identity },
    ) {
      const dataDir = mkdtempSync(join(tmpdir(), 'punctual-former-'))
      t.after(() => rmSync(dataDir, { recursive: true }))
      const path = join(dataDir, 'processes', nameOf(former))
      mkdirSync(join(path, 'launchers'), { recursive: true })
      const launchers = Object.keys(locks)
      const recorded = { containment: 'pidns', sessions: [SESSION], launchers, ...record }
      writeFileSync(join(path, 'sessions.json'), JSON.stringify(recorded))
      for (const [name, text] of Object.entries(locks)) {
        writeFileSync(join(path, 'launchers', name), text)
      }
      return { dataDir, path }
    }

    /** Settles the records; returns the messages and the sessions that are proved gone. */
    async function settle(dataDir: string, own: Partial<SettleOptions> = {}) {
      const awaited: string[] = []
      const gone: string[] = []
      const errors: unknown[] = []
      await settleFormerProcesses(dataDir, {
        onAwait: (_sessions, what) => awaited.push(what),
        onGone: async (sessions) => void gone.push(...sessions),
        onError: (error) => errors.push(error),
        now: Date.now,
        signal: new AbortController().signal,
        ...own,
      })
      return { awaited, gone, errors }
    }

    const launcher = () => nameOf({ ...dead, started: 2 })

    test('proves the end if every launcher wrote that nothing is left', async (t) => {
      const { dataDir, path } = leave(t, {
        containment: 'group',
        locks: { [launcher()]: 'ended  \n' },
      })
      assert.deepEqual((await settle(dataDir)).gone, [SESSION])
      assert.ok(!existsSync(path))
    })

    test('proves nothing if the directory of locks is empty or lacks one', async (t) => {
      const other = nameOf({ ...dead, started: 3 })
      for (const [launchers, locks] of [
        [[], {}],
        [[launcher()], {}],
        [[launcher(), other], { [other]: 'ended  \n' }],
        [[launcher()], { [launcher()]: '' }],
      ] as const) {
        const { dataDir, path } = leave(t, { launchers, locks })
        const { awaited, gone } = await settle(dataDir)
        assert.deepEqual(gone, [], JSON.stringify({ launchers, locks }))
        assert.match(awaited.at(-1) ?? '', /cannot be proved/)
        assert.ok(!existsSync(path))
      }
    })

    test('proves nothing, and blocks nothing, if it was deleted in part', async (t) => {
      const { dataDir, path } = leave(t, { launchers: [launcher()] })
      rmSync(join(path, 'launchers'), { recursive: true })
      assert.deepEqual(await settle(dataDir).then(({ gone, errors }) => [gone, errors]), [[], []])
      assert.ok(!existsSync(path))
    })

    test('proves nothing if a launcher of level `group` was killed', async (t) => {
      const { dataDir } = leave(t, { containment: 'group', locks: { [launcher()]: 'running\n' } })
      assert.deepEqual((await settle(dataDir)).gone, [])
    })

    test('proves nothing if a cgroup is missing where its hierarchy is not visible', async (t) => {
      const mount = tmpdir()
      const { dev, ino } = statSync(mount, { bigint: true })
      const settleWith = async (text: string) => {
        const { dataDir } = leave(t, { containment: 'cgroup', locks: { [launcher()]: text } })
        return (await settle(dataDir)).gone
      }
      const lock = (root: string, name = `punctual.${launcher()}`) =>
        `running\nmount ${root} ${mount}\ncgroup ${mount}/${name}\n`
      assert.deepEqual(await settleWith('running\n'), [], 'it was killed before it noted its group')
      assert.deepEqual(await settleWith(lock(`${dev} ${ino + 1n}`)), [])
      assert.deepEqual(await settleWith(lock(`${dev + 1n} ${ino}`)), [])
      assert.deepEqual(await settleWith(lock(`${dev} ${ino}`, 'of-another')), [])
      assert.deepEqual(await settleWith(lock(`${dev} ${ino}`)), [SESSION])
    })

    for (const containment of ['group', 'cgroup'] as const) {
      const isSpared = containment === 'group'
      test(`${isSpared ? 'does not kill' : 'kills'} a launcher that keeps its lock (${containment})`, async (t) => {
        const holder = spawn('sleep', ['1000'])
        t.after(() => holder.kill('SIGKILL'))
        await once(holder, 'spawn')
        const name = lockNameOf(holder.pid ?? 0) ?? ''
        const { dataDir, path } = leave(t, { containment, locks: { [name]: 'running\n' } })
        const file = join(path, 'launchers', name)
        const locker = spawn('flock', [
          '--no-fork',
          '-x',
          file,
          'sh',
          '-c',
          'echo held; exec sleep 1000',
        ])
        t.after(() => locker.kill('SIGKILL'))
        await once(locker.stdout, 'data')
        const waits = { patienceMs: 1, sweepMs: 1, limitMs: 200 }
        assert.deepEqual((await settle(dataDir, { waits })).gone, [])
        if (!isSpared) await waitFor(() => holder.signalCode, { what: 'the launcher to be killed' })
        assert.equal(holder.signalCode, isSpared ? null : 'SIGKILL')
      })
    }

    test('gives its launchers enough time to finish after they are continued', () => {
      const source = readFileSync(new URL('../../../native/launcher.h', import.meta.url), 'utf8')
      const sweepMs = Number(/#define SWEEP_LIMIT \((\d+) \* MS\)/.exec(source)?.[1])
      assert.ok(WAITS.sweepMs >= sweepMs + 1_000)
    })

    test('of another boot or another PID namespace proves nothing, and stays for a week', async (t) => {
      const own = ownIdentity()
      for (const elsewhere of [
        { ...dead, boot: own.boot === '00000000' ? '11111111' : '00000000' },
        { ...dead, namespace: '1' },
      ]) {
        const left = { process: elsewhere, locks: { [launcher()]: 'ended  \n' } }
        const { dataDir, path } = leave(t, left)
        const { awaited, gone } = await settle(dataDir)
        assert.deepEqual(gone, [])
        assert.match(awaited.join(), /another container or before the last boot/)
        assert.ok(existsSync(join(path, 'launchers', launcher())), 'its process may be alive')
        const eightDaysAgo = (Date.now() - 8 * DAY_MS) / 1000
        utimesSync(path, eightDaysAgo, eightDaysAgo)
        assert.deepEqual((await settle(dataDir)).gone, [])
        assert.ok(!existsSync(path))
      }
    })

    test('is released again until the store accepts it, and `why` reports that', async (t) => {
      const { dataDir, path } = leave(t, { locks: { [launcher()]: 'ended  \n' } })
      let tries = 0
      const { awaited, errors } = await settle(dataDir, {
        async onGone() {
          assert.ok(existsSync(path), 'it stays for the next process until then')
          tries += 1
          if (tries < 3) throw new Error('the store is away')
        },
      })
      assert.equal(tries, 3)
      assert.equal(errors.length, 2)
      assert.match(awaited.at(-1) ?? '', /the store has not recorded that yet/)
      assert.ok(!existsSync(path))
    })

    test('stays for the next process if this one stops before the store accepted it', async (t) => {
      const { dataDir, path } = leave(t, { locks: { [launcher()]: 'ended  \n' } })
      const stopping = new AbortController()
      const { errors } = await settle(dataDir, {
        signal: stopping.signal,
        async onGone() {
          stopping.abort()
          throw new Error('the store is closed')
        },
      })
      assert.equal(errors.length, 1)
      assert.ok(existsSync(join(path, 'sessions.json')))
    })
  },
)
