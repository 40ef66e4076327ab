import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sampleFairShare } from '../integration/fair-share.ts'
import { openSchedulerAccess } from '../integration/http-scheduler.ts'
import type { PostgresServer } from '../support/postgres-server.ts'
import { postgresOn, sqliteIn } from './databases.ts'
import { gatesSummary } from './gates/gates-summary.ts'
import { runGatesScenario } from './gates/gates-scenario.ts'
import type { ChaosPlan } from './scenario.ts'

/** Result of a scenario for the terminal and the exit code. */
export interface ScenarioVerdict {
  readonly summary: string
  readonly isClean: boolean
}

type GetServer = () => Promise<PostgresServer>

/** 10,000 runs over 50 keys with one slot each, on both databases. */
export async function runGatesOnBothStores(
  server: GetServer,
  plan: ChaosPlan,
): Promise<ScenarioVerdict> {
  const size = { runs: 10_000, keys: 50 }
  const stores = [
    ['SQLite', 1, async (dir: string) => sqliteIn(dir)],
    ['PostgreSQL', 2, async () => postgresOn(await server())],
  ] as const
  const verdicts: ScenarioVerdict[] = []
  for (const [store, servers, database] of stores) {
    const keep = plan.keep && join(plan.keep, store)
    const result = await runGatesScenario({ ...plan, ...size, keep, servers, database })
    verdicts.push({
      summary: gatesSummary(store, result),
      isClean: result.violations.length === 0,
    })
  }
  return both(verdicts)
}

/** Single runs of one project while 200,000 runs of another are queued. */
export async function runFairShareScenario(
  server: GetServer,
  { faults, report }: ChaosPlan,
): Promise<ScenarioVerdict> {
  const queued = 200_000
  const dir = mkdtempSync(join(tmpdir(), 'punctual-fair-'))
  const stores = [
    ['SQLite', async () => `sqlite:${join(dir, 'punctual.db')}`],
    ['PostgreSQL', async () => (await server()).createDatabase()],
  ] as const
  const verdicts: ScenarioVerdict[] = []
  try {
    for (const [store, open] of stores) {
      const reach = await openSchedulerAccess(await open())
      try {
        const { samples, maxStarts, violations } = await sampleFairShare(reach, {
          queued,
          samples: faults,
        })
        report(`${store}: ${samples} lone runs next to ${queued} queued ones`)
        const lines = [
          `${store}: each of ${samples} lone runs was number ${maxStarts} to start at most`,
          `${violations.length} violations`,
          ...violations,
        ]
        const summary = lines.map((line) => `  ${line}`).join('\n')
        verdicts.push({ summary, isClean: violations.length === 0 })
      } finally {
        await reach.close()
      }
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
  return both(verdicts)
}

function both(verdicts: readonly ScenarioVerdict[]): ScenarioVerdict {
  return {
    summary: verdicts.map(({ summary }) => summary).join('\n'),
    isClean: verdicts.every(({ isClean }) => isClean),
  }
}
