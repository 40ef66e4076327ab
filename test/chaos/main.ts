import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions } from '../support/read-options.ts'
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts'
import { postgresOn } from './databases.ts'
import { flood } from './flood.ts'
import { playCrowds, playFairShares, type Verdict } from './placement-scenarios.ts'
import { playFlows } from './workflows/run-on-both-stores.ts'
import type { Plan, Result } from './scenario.ts'
import * as scenarios from './scenarios.ts'
import { playSchedules } from './schedules/schedules-scenario.ts'
import { schedulesSummary } from './schedules/schedules-summary.ts'
import { SHORT_TIMES } from './short-times.ts'
import { summaryOf } from './summary.ts'
import { killWorkers } from './worker-deaths.ts'

const USAGE = `usage: npm run chaos -- [scenario…] [--kills N] [--seed N] [--keep DIR]`

interface Entry {
  /** Faults when nobody says how many. */
  readonly faults: number
  play(server: () => Promise<PostgresServer>, plan: Plan): Promise<Verdict>
}

const ENTRIES: Readonly<Record<string, Entry>> = {
  'sqlite-kills': {
    faults: 500,
    play: async (_, plan) => judge(await scenarios.sqliteKills(plan)),
  },
  'postgres-kills': {
    faults: 500,
    play: async (server, plan) => judge(await scenarios.postgresKills(await server(), plan)),
  },
  'postgres-restarts': {
    faults: 20,
    play: async (server, plan) => judge(await scenarios.postgresRestarts(await server(), plan)),
  },
  'postgres-cuts': {
    faults: 500,
    play: async (server, plan) => judge(await scenarios.postgresCuts(await server(), plan)),
  },
  'worker-kills': { faults: 25, play: (_, plan) => playDeaths('kill', plan) },
  // Here a fault is a gigabyte.
  flood: { faults: 10, play: (_, plan) => playFloods(plan) },
  gates: { faults: 40, play: playCrowds },
  // And here a lone run.
  'fair-share': { faults: 200, play: playFairShares },
  // Here a second: how many blows fall in it is chance.
  schedules: { faults: 180, play: playEverySecond },
  workflows: { faults: 40, play: playFlows },
  'worker-freezes': { faults: 25, play: (_, plan) => playDeaths('freeze', plan) },
}

function judge(result: Result): Verdict {
  return { summary: summaryOf(result), isClean: result.violations.length === 0 }
}

/** A thousand schedules of every second on three servers of one database. */
async function playEverySecond(
  server: () => Promise<PostgresServer>,
  { faults: seconds, ...plan }: Plan,
): Promise<Verdict> {
  const database = async () => postgresOn(await server())
  const size = { schedules: 1_000, servers: 3, workers: 3, seconds }
  const result = await playSchedules({ ...plan, ...size, database })
  return { summary: schedulesSummary(result), isClean: result.violations.length === 0 }
}

/** Every level of containment there is, the strongest first. */
const LEVELS = [
  { launcher: 'native', containment: 'pidns' },
  { launcher: 'native', containment: 'cgroup' },
  { launcher: 'native', containment: 'group' },
  { launcher: 'node', containment: 'group' },
] as const

async function playDeaths(kind: 'kill' | 'freeze', { faults, say }: Plan): Promise<Verdict> {
  const lines: string[] = []
  let isClean = true
  for (const level of LEVELS) {
    const rounds = Math.ceil(faults / LEVELS.length)
    const jobs = kind === 'kill' ? 50 : 20
    const plan = { kind, rounds, jobs, goneWithinMs: 1_000, say, ...level }
    const { goneMs, violations } = await killWorkers(plan)
    lines.push(
      `${level.launcher}, ${level.containment}: ${rounds} workers, each with ${jobs} trees; everything gone after ${goneMs.toFixed(0)} ms at most`,
      `${violations.length} violations`,
      ...violations,
    )
    isClean &&= violations.length === 0
  }
  return { summary: lines.map((line) => `  ${line}`).join('\n'), isClean }
}

const GB = 1_000_000_000

/** Lines without end, and then a line without end. */
async function playFloods({ faults, say }: Plan): Promise<Verdict> {
  const lines: string[] = []
  let isClean = true
  for (const [what, bytes, isOneLine] of [
    [`${faults} GB in lines`, faults * GB, false],
    ['1 GB in a single line', GB, true],
  ] as const) {
    const limitBytes = 64 * 1024 ** 2
    const mostGapMs = SHORT_TIMES.leaseTtlMs / 2
    const deadlineMs = 3_600_000
    const most = { deadlineMs, mostGapMs, mostWorkerMb: 250 }
    const report = await flood({ bytes, limitBytes, isOneLine, times: SHORT_TIMES, ...most })
    const { tookMs, workerMb, longestGapMs, violations } = report
    const rate = `${(bytes / 1_000 / tookMs).toFixed(0)} MB/s`
    const beats = `${longestGapMs.toFixed(0)} ms without a heartbeat at most`
    say(`${what}: ${rate}, ${workerMb.toFixed(0)} MB at most, ${beats}`)
    lines.push(`${what}: ${violations.length} violations`, ...violations)
    isClean &&= violations.length === 0
  }
  return { summary: lines.map((line) => `  ${line}`).join('\n'), isClean }
}

/** The long version of the chaos tests. */
const { values, positionals } = readOptions(USAGE, {
  kills: { type: 'string' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  keep: { type: 'string' },
})
const names = positionals.length > 0 ? positionals : Object.keys(ENTRIES)
const stranger = names.find((name) => !Object.hasOwn(ENTRIES, name))
if (stranger !== undefined) {
  console.error(`no scenario ${stranger}; one of ${Object.keys(ENTRIES).join(', ')}`)
  process.exit(2)
}

let postgres: Promise<PostgresServer> | undefined
try {
  for (const name of names) await playOne(name, ENTRIES[name] as Entry)
} finally {
  await (await postgres)?.stop('immediate')
}

async function playOne(name: string, entry: Entry): Promise<void> {
  const seed = Number(values.seed)
  const keep = values.keep === undefined ? undefined : join(values.keep, name)
  if (keep !== undefined) mkdirSync(keep, { recursive: true })
  console.log(`${name}, seed ${seed}`)
  const startedMs = performance.now()
  const { summary, isClean } = await entry.play(() => (postgres ??= startPostgres()), {
    seed,
    keep,
    faults: Number(values.kills ?? entry.faults),
    say(line) {
      console.log(`  ${((performance.now() - startedMs) / 1_000).toFixed(0)} s: ${line}`)
    },
  })
  console.log(summary)
  if (!isClean) {
    console.log(`  again: npm run chaos -- ${name} --seed ${seed}`)
    process.exitCode = 1
  }
}
