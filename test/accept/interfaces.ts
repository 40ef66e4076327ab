import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attempt, npm, npmInBackground, run } from './commands.ts'
import type { Check, CheckReport } from './check.ts'
import { findOutputLine } from './findings.ts'
import { measure, passTests } from './measuring.ts'
import { waitFor } from '../support/wait-for.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The last commit before the interfaces were built. */
const ENGINE_COMMIT = '1b48c0f'

/** Acceptance checks of the interfaces: API, identity, process worker, command line. */
export const checks: Check[] = [
  {
    id: 'D1',
    title: 'a fresh clone starts, and its commands work from anywhere',
    async run(report) {
      const clone = mkdtempSync(join(tmpdir(), 'punctual-clone-'))
      try {
        await run('git', ['clone', '--quiet', ROOT, clone])
        await npm(clone, ['ci'])
        await tryCommands(clone, report)
      } finally {
        rmSync(clone, { recursive: true, force: true })
      }
    },
  },
  {
    id: 'D2',
    title: 'killed and frozen workers leave no process behind, and their runs finish elsewhere',
    async run(report) {
      await passTests(ROOT, ['test/chaos/worker-deaths', 'test/chaos/busy-worker'], report)
      const printed = await npm(ROOT, ['run', 'chaos', '--', 'worker-kills', 'worker-freezes'])
      for (const line of printed
        .split('\n')
        .filter((each) => /exited after .* at most/.test(each))) {
        report.figure('chaos', line.trim())
      }
      assert.doesNotMatch(printed, /^ +[1-9]\d* violations$/m)
    },
  },
  {
    id: 'D3',
    title: 'every route accepts exactly the roles it should; tokens appear nowhere',
    run: async (report) => {
      const parts = ['test/api/access-matrix', 'test/api/identity', 'src/server/api/access']
      await passTests(ROOT, parts, report)
    },
  },
  {
    id: 'D4',
    title: '20,000 calls made from the reference, hostile connections, every kind of bad input',
    async run(report) {
      await passTests(ROOT, ['test/api/', 'src/server/api/'], report)
    },
  },
  {
    id: 'D5',
    title: 'a worker of sixty lines of Python, written from the protocol page, conforms',
    run: async (report) => void (await passTests(ROOT, ['test/protocol/'], report)),
  },
  {
    id: 'D6',
    title: 'a real Prometheus scrapes it, and promtool accepts the page',
    async run(report) {
      const printed = await passTests(ROOT, ['test/metrics/'], report)
      assert.doesNotMatch(printed, /needs prometheus/i, 'without Prometheus nothing was shown')
    },
  },
  {
    id: 'D7',
    title:
      'processes nearly as fast as they can be started, short waits, nothing slower than before',
    run: (report) =>
      measure(
        ROOT,
        ['shell', 'latency', 'footprint', ['against', '--commit', ENGINE_COMMIT]],
        report,
      ),
  },
  {
    id: 'D8',
    title: 'on a terminal of 80 columns, without one, and every exit code',
    async run(report) {
      const printed = await passTests(ROOT, ['test/cli/', 'src/main/'], report)
      assert.doesNotMatch(printed, /needs tmux/, 'without tmux nothing was shown')
    },
  },
]

async function tryCommands(clone: string, report: CheckReport): Promise<void> {
  const server = npmInBackground(clone, ['start'])
  const elsewhere = mkdtempSync(join(tmpdir(), 'punctual-elsewhere-'))
  try {
    await waitFor(() => server.printed().includes('Try:'), {
      what: 'the server to say that it is ready',
      deadlineMs: 60_000,
    })
    for (const wanted of [
      /address +http:\/\/127\.0\.0\.1:7420/,
      /data +\S+\.punctual/,
      /Try:\n +\S/,
    ])
      assert.match(server.printed(), wanted)
    const punctual = (...args: string[]) => attempt(join(clone, 'bin/punctual'), args, elsewhere)
    const command = ['sh', '-c', 'echo hi; exit 7']
    const executed = await punctual('exec', '--', ...command)
    assert.deepEqual([executed.out, executed.code], ['hi\n', 7])
    const waited = await punctual('run', '--wait', '--', ...command)
    assert.equal(waited.code, 3)
    assert.equal((await punctual('logs', '@last')).out, 'hi\n')
    const runs = JSON.parse((await punctual('runs', '-o', 'json')).out) as { state: string }[]
    assert.deepEqual(
      runs.map(({ state }) => state),
      ['failed', 'failed'],
    )
    report.figure('show', findOutputLine((await punctual('show', '@last')).out, /failed/))
    report.figure('why', findOutputLine((await punctual('why', '@last')).out, /7/))
  } finally {
    await server.stop()
    rmSync(elsewhere, { recursive: true, force: true })
  }
}
