import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { cp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openScheduler } from '../../src/main/scheduler.ts'
import { skipWithout } from '../support/skip-without.ts'

const skip = skipWithout('strace')
const SUBMITTER = fileURLToPath(new URL('./submitter.ts', import.meta.url))
const RUNS = 3

function temporary(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'punctual-crash-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

/** Runs the submitter under strace, and returns its output until it was killed. */
async function submitUnder(dataDir: string, trace: readonly string[]): Promise<string> {
  const child = spawn(
    'strace',
    ['-f', '-qq', ...trace, process.execPath, SUBMITTER, dataDir, String(RUNS)],
    // With one file thread its calls can be counted; strace counts per thread.
    { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, UV_THREADPOOL_SIZE: '1' } },
  )
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return output
}

/** Every acknowledged run is stored whole; every other run is whole or absent. */
async function assertWhole(dataDir: string, output: string): Promise<number> {
  const acknowledged = output
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, digest]) => digest?.length === 64)
  const scheduler = await openScheduler({
    store: `sqlite:${dataDir}/punctual.db`,
    blobs: { place: 'fs', dataDir },
  })
  try {
    const client = scheduler.clientFor('default')
    const digestOf = async (id: string) => {
      const { input } = await client.getRun(id)
      return createHash('sha256')
        .update(input as string)
        .digest('hex')
    }
    for (const [id, digest] of acknowledged) assert.equal(await digestOf(id as string), digest)
    const { runs } = await client.listRuns()
    assert.ok(runs.length >= acknowledged.length)
    for (const { id } of runs) await digestOf(id)
  } finally {
    await scheduler.stop()
  }
  return acknowledged.length
}

const KILLS = [
  ...[3, 5, 6, 7, 8, 9, 10].map((nth) => ['fsync', nth] as const),
  ...[1, 2, 3].map((nth) => ['rename', nth] as const),
]

test(
  'killed before any call that makes data durable, no acknowledged run is lost or torn',
  { skip },
  async (t) => {
    // An existing database syncs less at its start, so that more of the kills hit runs.
    const made = temporary(t)
    await assertWhole(made, '')
    const counts: number[] = []
    for (const [call, nth] of KILLS) {
      const dataDir = temporary(t)
      await cp(made, dataDir, { recursive: true })
      const inject = `inject=${call}:signal=KILL:when=${nth}`
      const output = await submitUnder(dataDir, [
        '-e',
        `trace=${call}`,
        '-e',
        inject,
        '-o',
        '/dev/null',
      ])
      counts.push(await assertWhole(dataDir, output))
    }
    t.diagnostic(`acknowledged before each kill: ${counts.join(' ')}`)
    assert.ok(new Set(counts).size >= RUNS, 'the kills came at different times')
  },
)

test(
  'a blob is on the disk under its name before the row that names it is written',
  { skip },
  async (t) => {
    const dataDir = temporary(t)
    const log = join(dataDir, 'trace')
    const calls = 'trace=fsync,fdatasync,rename,write'
    const output = await submitUnder(dataDir, ['-y', '-s', '64', '-e', calls, '-o', log])
    assert.equal(await assertWhole(dataDir, output), RUNS)
    const story = tell(await readFile(log, 'utf8'))
    const one = 'blob renamed · folder synced · row synced · acknowledged'
    assert.match(story, new RegExp(`blob synced · ${one}`), story)
    // The first run may have to create folders; the last finds them all.
    assert.ok(story.endsWith(`blob synced · ${one}`), story)
  },
)

/** Durability events in order, as text. */
function tell(log: string): string {
  const words: [found: RegExp, word: string][] = [
    [/fsync\(\d+<[^>]*\/\.unfinished\/run_[^>]*>\) *= 0/, 'blob synced'],
    [/rename\("[^"]*\/\.unfinished\/run_.*\) *= 0/, 'blob renamed'],
    [/fsync\(\d+<[^>]*\/blobs\/[0-9a-f]{32}\/[0-9a-f]{2}>\) *= 0/, 'folder synced'],
    [/f(data)?sync\(\d+<[^>]*punctual\.db-wal>\) *= 0/, 'row synced'],
    [/write\(1<.*"run_\w+ [0-9a-f]+/, 'acknowledged'],
  ]
  const told: string[] = []
  for (const line of joined(log)) {
    const [, word] = words.find(([found]) => found.test(line)) ?? []
    if (word !== undefined) told.push(word)
  }
  return told.join(' · ')
}

/** strace splits a call interrupted by another thread into two lines: its end is what counts. */
function joined(log: string): string[] {
  const begun = new Map<string, string>()
  return log.split('\n').flatMap((line) => {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (rest.endsWith('<unfinished ...>')) {
      begun.set(pid, rest.slice(0, -'<unfinished ...>'.length).trimEnd())
      return []
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)
    return [resumed ? `${begun.get(pid) ?? ''}${resumed[1]}` : rest]
  })
}
