import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { npm, npmInBackground, run } from './commands.ts'
import type { Check, CheckReport } from './check.ts'
import { findOutputLine } from './findings.ts'
import { measure, passTests } from './measuring.ts'
import { waitFor } from '../support/wait-for.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Acceptance checks of the engine: its guarantees, tested from outside. */
export const checks: Check[] = [
  {
    id: 'H1',
    title: 'a fresh clone starts by itself and passes its tests on SQLite and PostgreSQL',
    async run(report) {
      const clone = mkdtempSync(join(tmpdir(), 'punctual-clone-'))
      try {
        await run('git', ['clone', '--quiet', ROOT, clone])
        await npm(clone, ['ci'])
        await tryStart(clone, report)
        const printed = await npm(clone, ['test'])
        report.figure('servers', findOutputLine(printed, /^servers:/))
        report.figure('tests', findOutputLine(printed, /^\d+ passed, 0 failed/))
      } finally {
        rmSync(clone, { recursive: true, force: true })
      }
    },
  },
  {
    id: 'H2',
    title: 'one contract on both stores, and the same history tick by tick',
    async run(report) {
      await passTests(ROOT, ['store'], report)
    },
  },
  {
    id: 'H3',
    title: '500 seeds without a violation, every fault in every state; planted bugs caught',
    async run(report) {
      await passTests(ROOT, ['test/sim'], report)
      const seeds = await npm(ROOT, ['run', 'sim'])
      report.figure('simulator', findOutputLine(seeds, /^500 seeds, .* 0 violations$/))
      const bugs = await npm(ROOT, ['run', 'sim', '--', '--bugs'])
      report.figure('planted bugs', findOutputLine(bugs, /^\d+ planted bugs, 0 not found$/))
    },
  },
  {
    id: 'H4',
    title: 'real processes killed, frozen and cut off: nothing lost, doubled or stuck',
    async run(report) {
      await passTests(ROOT, ['test/chaos'], report)
      await measure(ROOT, ['recovery'], report)
    },
  },
  {
    id: 'H5',
    title: 'faster than what people use today, in the same run',
    async run(report) {
      const scenarios = [
        'throughput',
        'single',
        'latency',
        'history',
        'snapshot',
        'vacuum',
        'footprint',
      ]
      await measure(ROOT, scenarios, report)
    },
  },
  {
    id: 'H6',
    title: 'bad input is answered 4xx with a code and a hint, never 500',
    async run(report) {
      await passTests(ROOT, ['src/server/api'], report)
    },
  },
  {
    id: 'H7',
    title: 'readable code: every file of the four walks exists, clean checks, no long function',
    async run(report) {
      const map = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
      const walks = map.split(/^### /m).filter((section) => /^\| 1 \| /m.test(section))
      assert.equal(walks.length, 4)
      for (const walk of walks) {
        const files = [...walk.matchAll(/^\| \d+ \| `(.+?)` \|/gm)].map(([, file = '']) => file)
        for (const file of files) assert.ok(existsSync(join(ROOT, file)), `${file} is not there`)
        report.figure(walk.split('\n', 1)[0] ?? '', `${files.length} files`)
      }
      // The linter limits the length of functions.
      await npm(ROOT, ['run', 'check'])
    },
  },
]

async function tryStart(clone: string, report: CheckReport): Promise<void> {
  const server = npmInBackground(clone, ['start'])
  try {
    const address = 'http://127.0.0.1:7420'
    await waitFor(() => isOk(`${address}/readyz`), {
      what: 'the server to be ready',
      deadlineMs: 60_000,
    })
    assert.equal(statSync(join(clone, '.punctual/admin-token')).mode & 0o777, 0o600)
    assert.ok(readdirSync(join(clone, '.punctual')).includes('punctual.db'))
    const token = readFileSync(join(clone, '.punctual/admin-token'), 'utf8').trim()
    assert.equal((await fetch(`${address}/v1/runs`)).status, 401)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ job: 'hello' })
    const answer = await fetch(`${address}/v1/runs`, { method: 'POST', headers, body })
    assert.equal(answer.status, 201)
    report.figure('npm start', address)
  } finally {
    await server.stop()
  }
}

async function isOk(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )
}
