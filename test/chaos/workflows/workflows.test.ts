// Real processes, real databases, real signals. The long version: `npm run chaos -- workflows`.
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { postgresUrl } from '../../support/servers.ts'
import { postgresAt, sqliteIn } from '../databases.ts'
import { runWorkflowsScenario, type WorkflowsPlan } from './workflows-scenario.ts'
import { workflowsSummary } from './workflows-summary.ts'

const SEED = Number(process.env.PUNCTUAL_CHAOS_SEED ?? 20_26)

async function run(
  t: TestContext,
  store: string,
  scenario: Pick<WorkflowsPlan, 'servers' | 'database'>,
): Promise<void> {
  const result = await runWorkflowsScenario({
    workflowRuns: 20,
    faults: 3,
    seed: SEED,
    report: () => {},
    ...scenario,
  })
  const summary = `seed ${SEED}\n${workflowsSummary(store, result)}`
  t.diagnostic(summary)
  assert.deepEqual(result.violations, [], summary)
  const { steps, skipped, followers, serverKills, workerKills, workerFreezes } = result.figures
  // A fault that did not happen was not tested.
  const met = { steps, skipped, followers, serverKills, workerKills, workerFreezes }
  for (const [what, count] of Object.entries(met)) assert.ok(count > 0, `no ${what}: ${summary}`)
}

describe('no step is early, doubled or lost, and no waves overlap', { concurrency: true }, () => {
  test('while the server of a SQLite file and its workers are killed', (t) =>
    run(t, 'SQLite', { servers: 1, database: async (dir) => sqliteIn(dir) }))

  test('while servers on PostgreSQL and their workers are killed and frozen', (t) =>
    run(t, 'PostgreSQL', { servers: 2, database: async () => postgresAt(await postgresUrl()) }))
})
