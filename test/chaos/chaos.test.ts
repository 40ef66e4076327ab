// Real processes, real databases, real signals. The long version is `npm run chaos`.
import assert from 'node:assert/strict'
import { after, describe, test, type TestContext } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts'
import { recordServer } from '../support/servers.ts'
import type { ChaosPlan, ScenarioResult } from './scenario.ts'
import * as scenarios from './scenarios.ts'
import { scenarioSummary } from './summary.ts'

const SEED = Number(process.env.PUNCTUAL_CHAOS_SEED ?? 20_26)

let postgres: Promise<PostgresServer> | undefined
const server = () => {
  recordServer('PostgreSQL')
  return (postgres ??= startPostgres())
}
after(async () => {
  if (postgres) await (await postgres).stop('immediate')
})

/** Runs a scenario in its short form and prints its figures, whether it passes or not. */
async function run(
  t: TestContext,
  faults: number,
  scenario: (plan: ChaosPlan) => Promise<ScenarioResult>,
): Promise<ScenarioResult> {
  const result = await scenario({ seed: SEED, faults, report: (line) => t.diagnostic(line) })
  const summary = `seed ${SEED}\n${scenarioSummary(result)}`
  t.diagnostic(summary)
  assert.equal(result.violations.length, 0, summary)
  assert.ok(result.figures.acknowledged > faults * 10, `hardly any load: ${summary}`)
  return result
}

describe('no run is lost or executed twice', { concurrency: true }, () => {
  describe('one after the other', { concurrency: false }, () => {
    test('when the only server of a SQLite file is killed 20 times under load', async (t) => {
      const { figures } = await run(t, 20, scenarios.sqliteKills)
      assert.ok((figures.faults.killed ?? 0) >= 20)
    })

    test('when PostgreSQL does not answer 20 commits', async (t) => {
      const { figures } = await run(t, 20, async (plan) =>
        scenarios.postgresCuts(await server(), plan),
      )
      assert.ok((figures.faults['cut after COMMIT'] ?? 0) >= 10)
    })
  })

  describe('at the same time', { concurrency: false }, () => {
    test('when PostgreSQL crashes', async (t) => {
      await run(t, 1, async (plan) => scenarios.postgresRestarts(await server(), plan))
    })

    test('when one of two servers on PostgreSQL is killed or frozen, 20 times', async (t) => {
      const { figures } = await run(t, 20, async (plan) =>
        scenarios.postgresKills(await server(), plan),
      )
      assert.ok((figures.faults.killed ?? 0) >= 18 && (figures.faults.frozen ?? 0) >= 2)
    })
  })
})
