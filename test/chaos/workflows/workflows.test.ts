// Real processes, real databases, real signals. Minutes of it: `npm run chaos -- workflows`.
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { postgresUrl } from '../../support/servers.ts'
import { postgresAt, sqliteIn } from '../databases.ts'
import { playWorkflows, type WorkflowsPlan } from './workflows-scenario.ts'
import { workflowsSummary } from './workflows-summary.ts'

const SEED = Number(process.env.PUNCTUAL_CHAOS_SEED ?? 20_26)

async function play(
  t: TestContext,
  store: string,
  casting: Pick<WorkflowsPlan, 'servers' | 'database'>,
): Promise<void> {
  const result = await playWorkflows({
    ...{ flows: 20, faults: 3, seed: SEED, say: () => {} },
    ...casting,
  })
  const summary = `seed ${SEED}\n${workflowsSummary(store, result)}`
  t.diagnostic(summary)
  assert.deepEqual(result.violations, [], summary)
  const { steps, skipped, followers, serverKills, workerKills, workerFreezes } = result.figures
  // What did not happen was not survived.
  const met = { steps, skipped, followers, serverKills, workerKills, workerFreezes }
  for (const [what, count] of Object.entries(met)) assert.ok(count > 0, `no ${what}: ${summary}`)
}

describe(
  'no step is early, doubled or lost, and no wave meets another',
  { concurrency: true },
  () => {
    test('while the server of a SQLite file and its workers are killed', (t) =>
      play(t, 'SQLite', { servers: 1, database: async (dir) => sqliteIn(dir) }))

    test('while servers on PostgreSQL and their workers are killed and frozen', (t) =>
      play(t, 'PostgreSQL', { servers: 2, database: async () => postgresAt(await postgresUrl()) }))
  },
)
