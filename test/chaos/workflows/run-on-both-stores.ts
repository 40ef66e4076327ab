import { join } from 'node:path'
import type { PostgresServer } from '../../support/postgres-server.ts'
import { postgresOn, sqliteIn } from '../databases.ts'
import type { ScenarioVerdict } from '../placement-scenarios.ts'
import type { ChaosPlan } from '../scenario.ts'
import { runWorkflowsScenario } from './workflows-scenario.ts'
import { workflowsSummary } from './workflows-summary.ts'

/** Workflow runs for each fault. */
const RUNS_PER_FAULT = 12

/**
 * Without faults, a workflow ends within 2 s of its last step (I20). Four times that, because the machine may
 * be busy.
 */
const MAX_CLOSED_MS = 4 * 2_000

/** First on one server with a SQLite file, then on three with one PostgreSQL. */
export async function runWorkflowsOnBothStores(
  server: () => Promise<PostgresServer>,
  plan: ChaosPlan,
): Promise<ScenarioVerdict> {
  const stores = [
    ['SQLite', 1, async (dir: string) => sqliteIn(dir)],
    ['PostgreSQL', 3, async () => postgresOn(await server())],
  ] as const
  const summaries: string[] = []
  let isClean = true
  for (const [store, servers, database] of stores) {
    const keep = plan.keep && join(plan.keep, store)
    const workflowRuns = plan.faults * RUNS_PER_FAULT
    const result = await runWorkflowsScenario({ ...plan, workflowRuns, keep, servers, database })
    summaries.push(workflowsSummary(store, result))
    const { maxClosedMs } = result.figures
    const isPrompt = maxClosedMs <= MAX_CLOSED_MS
    if (!isPrompt) summaries.push(`  too late: ${maxClosedMs} ms, at most ${MAX_CLOSED_MS}`)
    isClean &&= result.violations.length === 0 && isPrompt
  }
  return { summary: summaries.join('\n'), isClean }
}
