import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sampleFairShare } from '../integration/fair-share.ts'
import { reachOver } from '../integration/http-scheduler.ts'
import type { PostgresServer } from '../support/postgres-server.ts'
import { postgresOn, sqliteIn } from './databases.ts'
import { gatesSummary } from './gates/gates-summary.ts'
import { playGates } from './gates/gates-scenario.ts'
import type { Plan } from './scenario.ts'

/** What came of a play, for people and for exit codes. */
export interface Verdict {
  readonly summary: string
  readonly isClean: boolean
}

type GetServer = () => Promise<PostgresServer>

/** Ten thousand runs over fifty keys of one place each, on either database. */
export async function playCrowds(server: GetServer, plan: Plan): Promise<Verdict> {
  const size = { runs: 10_000, keys: 50 }
  const stores = [
    ['SQLite', 1, async (dir: string) => sqliteIn(dir)],
    ['PostgreSQL', 2, async () => postgresOn(await server())],
  ] as const
  const verdicts: Verdict[] = []
  for (const [store, servers, database] of stores) {
    const keep = plan.keep && join(plan.keep, store)
    const result = await playGates({ ...plan, ...size, keep, servers, database })
    verdicts.push({
      summary: gatesSummary(store, result),
      isClean: result.violations.length === 0,
    })
  }
  return both(verdicts)
}

/** Lone runs of one project beside 200,000 of another. */
export async function playFairShares(server: GetServer, { faults, say }: Plan): Promise<Verdict> {
  const queued = 200_000
  const dir = mkdtempSync(join(tmpdir(), 'punctual-fair-'))
  const stores = [
    ['SQLite', async () => `sqlite:${join(dir, 'punctual.db')}`],
    ['PostgreSQL', async () => (await server()).createDatabase()],
  ] as const
  const verdicts: Verdict[] = []
  try {
    for (const [store, open] of stores) {
      const reach = await reachOver(await open())
      try {
        const { samples, mostStarts, violations } = await sampleFairShare(reach, {
          ...{ queued, samples: faults },
        })
        say(`${store}: ${samples} lone runs beside ${queued}`)
        const lines = [
          `${store}: each of ${samples} lone runs was number ${mostStarts} to start at most`,
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

function both(verdicts: readonly Verdict[]): Verdict {
  return {
    summary: verdicts.map(({ summary }) => summary).join('\n'),
    isClean: verdicts.every(({ isClean }) => isClean),
  }
}
