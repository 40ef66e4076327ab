import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions } from '../support/read-options.ts'
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts'
import { postgresOn } from './databases.ts'
import { flood } from './flood.ts'
import {
  runGatesOnBothStores,
  runFairShareScenario,
  type ScenarioVerdict,
} from './placement-scenarios.ts'
import { runWorkflowsOnBothStores } from './workflows/run-on-both-stores.ts'
import type { ChaosPlan, ScenarioResult } from './scenario.ts'
import * as scenarios from './scenarios.ts'
import { runSchedulesScenario } from './schedules/schedules-scenario.ts'
import { schedulesSummary } from './schedules/schedules-summary.ts'
import { SHORT_TIMES } from './short-times.ts'
import { scenarioSummary } from './summary.ts'
import { killWorkers } from './worker-deaths.ts'

const USAGE = `usage: npm run chaos -- [scenario…] [--kills N] [--seed N] [--keep DIR]`

interface Entry {
  /** Default number of faults. */
  readonly faults: number
  execute(server: () => Promise<PostgresServer>, plan: ChaosPlan): Promise<ScenarioVerdict>
}

const ENTRIES: Readonly<Record<string, Entry>> = {
  'sqlite-kills': {
    faults: 500,
    execute: async (_, plan) => toScenarioVerdict(await scenarios.sqliteKills(plan)),
  },
  'postgres-kills': {
    faults: 500,
    execute: async (server, plan) =>
      toScenarioVerdict(await scenarios.postgresKills(await server(), plan)),
  },
  'postgres-restarts': {
    faults: 20,
    execute: async (server, plan) =>
      toScenarioVerdict(await scenarios.postgresRestarts(await server(), plan)),
  },
  'postgres-cuts': {
    faults: 500,
    execute: async (server, plan) =>
      toScenarioVerdict(await scenarios.postgresCuts(await server(), plan)),
  },
  'worker-kills': { faults: 25, execute: (_, plan) => runWorkerDeaths('kill', plan) },
  // Here a fault is a gigabyte.
  flood: { faults: 10, execute: (_, plan) => runFloods(plan) },
  gates: { faults: 40, execute: runGatesOnBothStores },
  // Here a fault is a single run of the small project.
  'fair-share': { faults: 200, execute: runFairShareScenario },
  // Here a fault is a second; the number of faults within it is random.
  schedules: { faults: 180, execute: runEverySecond },
  workflows: { faults: 40, execute: runWorkflowsOnBothStores },
  'worker-freezes': { faults: 25, execute: (_, plan) => runWorkerDeaths('freeze', plan) },
}

function toScenarioVerdict(result: ScenarioResult): ScenarioVerdict {
  return { summary: scenarioSummary(result), isClean: result.violations.length === 0 }
}

/** A thousand schedules that fire every second, on three servers of one database. */
async function runEverySecond(
  server: () => Promise<PostgresServer>,
  { faults: seconds, ...plan }: ChaosPlan,
): Promise<ScenarioVerdict> {
  const database = async () => postgresOn(await server())
  const size = { schedules: 1_000, servers: 3, workers: 3, seconds }
  const result = await runSchedulesScenario({ ...plan, ...size, database })
  return { summary: schedulesSummary(result), isClean: result.violations.length === 0 }
}

/** Every containment level, the strongest first. */
const LEVELS = [
  { launcher: 'native', containment: 'pidns' },
  { launcher: 'native', containment: 'cgroup' },
  { launcher: 'native', containment: 'group' },
  { launcher: 'node', containment: 'group' },
] as const

async function runWorkerDeaths(
  kind: 'kill' | 'freeze',
  { faults, report }: ChaosPlan,
): Promise<ScenarioVerdict> {
  const lines: string[] = []
  let isClean = true
  for (const level of LEVELS) {
    const rounds = Math.ceil(faults / LEVELS.length)
    const jobs = kind === 'kill' ? 50 : 20
    const plan = { kind, rounds, jobs, maxSurvivalMs: 1_000, report, ...level }
    const { exitedMs, violations } = await killWorkers(plan)
    lines.push(
      `${level.launcher}, ${level.containment}: ${rounds} workers, each with ${jobs} trees; all processes exited after ${exitedMs.toFixed(0)} ms at most`,
      `${violations.length} violations`,
      ...violations,
    )
    isClean &&= violations.length === 0
  }
  return { summary: lines.map((line) => `  ${line}`).join('\n'), isClean }
}

const GB = 1_000_000_000

/** First many lines, then a single endless line. */
async function runFloods({ faults, report }: ChaosPlan): Promise<ScenarioVerdict> {
  const lines: string[] = []
  let isClean = true
  for (const [what, bytes, isOneLine] of [
    [`${faults} GB in lines`, faults * GB, false],
    ['1 GB in a single line', GB, true],
  ] as const) {
    const limitBytes = 64 * 1024 ** 2
    const maxGapMs = SHORT_TIMES.leaseTtlMs / 2
    const deadlineMs = 3_600_000
    const most = { deadlineMs, maxGapMs, maxWorkerMb: 250 }
    const result = await flood({ bytes, limitBytes, isOneLine, times: SHORT_TIMES, ...most })
    const { tookMs, workerMb, longestGapMs, violations } = result
    const rate = `${(bytes / 1_000 / tookMs).toFixed(0)} MB/s`
    const heartbeats = `${longestGapMs.toFixed(0)} ms without a heartbeat at most`
    report(`${what}: ${rate}, ${workerMb.toFixed(0)} MB at most, ${heartbeats}`)
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
const unknownName = names.find((name) => !Object.hasOwn(ENTRIES, name))
if (unknownName !== undefined) {
  console.error(`no scenario ${unknownName}; one of ${Object.keys(ENTRIES).join(', ')}`)
  process.exit(2)
}

let postgres: Promise<PostgresServer> | undefined
try {
  for (const name of names) await runOne(name, ENTRIES[name] as Entry)
} finally {
  await (await postgres)?.stop('immediate')
}

async function runOne(name: string, entry: Entry): Promise<void> {
  const seed = Number(values.seed)
  const keep = values.keep === undefined ? undefined : join(values.keep, name)
  if (keep !== undefined) mkdirSync(keep, { recursive: true })
  console.log(`${name}, seed ${seed}`)
  const startedMs = performance.now()
  const { summary, isClean } = await entry.execute(() => (postgres ??= startPostgres()), {
    seed,
    keep,
    faults: Number(values.kills ?? entry.faults),
    report(line) {
      console.log(`  ${((performance.now() - startedMs) / 1_000).toFixed(0)} s: ${line}`)
    },
  })
  console.log(summary)
  if (!isClean) {
    console.log(`  again: npm run chaos -- ${name} --seed ${seed}`)
    process.exitCode = 1
  }
}
