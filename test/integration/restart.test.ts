import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { WireWhy } from '../../src/core/wire/views.ts'
import { killLeftovers } from '../../src/worker/launcher/leftovers.ts'
import { identityOf, notesDirectory } from '../../src/worker/launcher/notes.ts'
import { probeLauncher } from '../../src/worker/launcher/probe.ts'
import { type KillableServer, startKillableServer } from '../support/killable-server.ts'
import { openHome, type PunctualHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'
import { postgresUrl } from '../support/servers.ts'

const native = await probeLauncher({ kind: 'native' }).then(
  () => false,
  (error: unknown) => `there is no native launcher: ${String(error)}`,
)
const cgroup = await probeLauncher({ kind: 'native', containment: 'cgroup' }).then(
  () => false,
  (error: unknown) => `there are no control groups for us: ${String(error)}`,
)
const pidns = await probeLauncher({ kind: 'native', containment: 'pidns' }).then(
  () => false,
  () => 'PID namespaces need root: sudo npm test',
)

/** Far less than the ordinary wait of a minute, and far more than a slow machine needs. */
const SOON_MS = 30_000

/** A run whose attempts record when they began and when they last lived. */
async function beating(home: PunctualHome, server: KillableServer, { isApart = false } = {}) {
  const at = (what: string, attempt: number) => join(home.dir, `${what}.${attempt}`)
  const beat = `date +%s%N > ${home.dir}/start.$PUNCTUAL_ATTEMPT
    ${isApart ? '(' : '{'} while :; do date +%s%N > ${home.dir}/new.$PUNCTUAL_ATTEMPT; mv ${home.dir}/new.$PUNCTUAL_ATTEMPT ${home.dir}/beat.$PUNCTUAL_ATTEMPT; sleep 0.02; done; ${isApart ? ') & sleep 1000' : '}'}`
  const body = { run: beat, kill_grace: '0s', retry: { max: 3 } }
  const { id } = await server.call<{ id: string }>('POST', '/v1/runs', body)
  const isAlive = (attempt: number) => existsSync(at('beat', attempt))
  await waitFor(() => isAlive(1), { what: 'the first attempt', deadlineMs: SOON_MS })
  const read = (what: string, attempt: number) => Number(readFileSync(at(what, attempt), 'utf8'))
  return {
    id,
    /** Waits for the next attempt and checks that it starts after the last sign of life of the previous one. */
    async again(attempt: number): Promise<void> {
      await waitFor(() => isAlive(attempt), { what: `attempt ${attempt}`, deadlineMs: SOON_MS })
      assert.ok(read('beat', attempt - 1) < read('start', attempt), 'no two attempts at once')
    },
  }
}

function locksOf(home: PunctualHome): string[] {
  const processes = join(home.dataDir, 'processes')
  return readdirSync(processes).flatMap((name) => readdirSync(join(processes, name, 'launchers')))
}

function launchersOf(home: PunctualHome): number[] {
  return locksOf(home).flatMap((name) => identityOf(name)?.pid ?? [])
}

const open = (t: TestContext, flags: readonly string[]) => {
  const home = openHome(t)
  const start = async () => {
    const server = await startKillableServer(home, ...flags)
    // A graceful stop would wait for its run.
    home.atEnd(server.kill)
    return server
  }
  return { home, start }
}

test('after a kill and a restart a run starts again at once', { skip: native }, async (t) => {
  const { home, start } = open(t, ['--slots', '2'])
  const first = await start()
  const run = await beating(home, first)
  await first.kill()
  const second = await start()
  await run.again(2)
  const attempts = await second.call<{ data: { cause: string }[] }>(
    'GET',
    `/v1/runs/${run.id}/attempts`,
  )
  assert.equal(attempts.data[0]?.cause, 'lost')
  await second.kill()
  await start()
  await run.again(3)
})

test(
  'a launcher that was killed with its server does not delay the restart',
  { skip: pidns },
  async (t) => {
    const { home, start } = open(t, ['--slots', '2', '--containment', 'pidns'])
    const first = await start()
    const run = await beating(home, first)
    for (const pid of launchersOf(home)) process.kill(pid, 'SIGKILL')
    await first.kill()
    await start()
    await run.again(2)
  },
)

test(
  'no attempt overlaps with processes of a killed launcher, even without its lock file (cgroup)',
  { skip: cgroup },
  async (t) => {
    const { home, start } = open(t, ['--slots', '2', '--containment', 'cgroup'])
    const first = await start()
    const run = await beating(home, first, { isApart: true })
    for (const pid of launchersOf(home)) process.kill(pid, 'SIGKILL')
    // As when the next server looks in another directory, or a logout has removed the files.
    for (const name of locksOf(home)) {
      const [note, away] = [join(notesDirectory(), name), join(home.dir, name)]
      copyFileSync(note, away)
      rmSync(note)
      // It also creates control groups for limits, which are not part of the proof.
      home.atEnd(async () => {
        copyFileSync(away, note)
        killLeftovers()
      })
    }
    await first.kill()
    await start()
    await run.again(2)
  },
)

for (const containment of ['pidns', 'group'] as const) {
  test(
    `no attempt overlaps with that of a frozen launcher (${containment})`,
    { skip: containment === 'pidns' ? pidns : native },
    async (t) => {
      const { home, start } = open(t, ['--slots', '2', '--containment', containment])
      const first = await start()
      const run = await beating(home, first)
      const launchers = launchersOf(home)
      assert.ok(launchers.length > 0)
      for (const pid of launchers) process.kill(pid, 'SIGSTOP')
      await first.kill()
      await start()
      await run.again(2)
    },
  )
}

test('without a proof the ordinary wait applies, and `why` says so', async (t) => {
  const { home, start } = open(t, ['--slots', '2', '--launcher', 'node'])
  const first = await start()
  const run = await beating(home, first)
  await first.kill()
  const second = await start()
  const why = await second.call<WireWhy>('GET', `/v1/runs/${run.id}/why`)
  assert.equal(why.code, 'awaiting_worker', why.sentence)
  assert.match(why.sentence, /^Attempt 1 ran on the worker \S+, whose server process is gone\./)
  assert.match(why.details.join(), /the wait for it is about a minute/)
  assert.ok(!existsSync(join(home.dir, 'start.2')))
})

test('on PostgreSQL the same server starts its runs again at once', { skip: native }, async (t) => {
  const url = await postgresUrl()
  const { home, start } = open(t, ['--slots', '2', '--store', url])
  const first = await start()
  const run = await beating(home, first)
  await first.kill()
  await start()
  await run.again(2)
})

test('a server that stops in order leaves nothing to prove', async (t) => {
  const { home } = open(t, [])
  const { child, output, ended } = home.start(['up', '--port', '0', '--data', home.dataDir])
  await waitFor(() => output.out.includes('Try:'), { what: 'a server', deadlineMs: SOON_MS })
  child.kill('SIGTERM')
  await ended
  assert.deepEqual(readdirSync(join(home.dataDir, 'processes')), [])
})
