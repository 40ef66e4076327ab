import { join } from 'node:path'
import type { PostgresServer } from '../../support/postgres-server.ts'
import { postgresOn, sqliteIn } from '../databases.ts'
import type { Verdict } from '../placement-scenarios.ts'
import type { Plan } from '../scenario.ts'
import { playWorkflows } from './workflows-scenario.ts'
import { workflowsSummary } from './workflows-summary.ts'

/** Workflows for each fault. */
const FLOWS = 12

/**
 * Once nobody is killed any more, a workflow is over 2 s after its last step (I20). Four times that, because the machine
 * may have other things to do.
 */
const MOST_CLOSED_MS = 4 * 2_000

/** First on one server of a SQLite file, then on three of one PostgreSQL. */
export async function playFlows(
  server: () => Promise<PostgresServer>,
  plan: Plan,
): Promise<Verdict> {
  const stores = [
    ['SQLite', 1, async (dir: string) => sqliteIn(dir)],
    ['PostgreSQL', 3, async () => postgresOn(await server())],
  ] as const
  const summaries: string[] = []
  let isClean = true
  for (const [store, servers, database] of stores) {
    const keep = plan.keep && join(plan.keep, store)
    const flows = plan.faults * FLOWS
    const result = await playWorkflows({ ...plan, flows, keep, servers, database })
    summaries.push(workflowsSummary(store, result))
    const { closedMostMs } = result.figures
    const isPrompt = closedMostMs <= MOST_CLOSED_MS
    if (!isPrompt) summaries.push(`  too late: ${closedMostMs} ms, at most ${MOST_CLOSED_MS}`)
    isClean &&= result.violations.length === 0 && isPrompt
  }
  return { summary: summaries.join('\n'), isClean }
}
