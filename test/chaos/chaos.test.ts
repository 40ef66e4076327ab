// Real processes, real databases, real signals. The long version is `npm run chaos`.
import assert from 'node:assert/strict'
import { after, describe, test, type TestContext } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts'
import { noteServer } from '../support/servers.ts'
import type { Plan, Result } from './scenario.ts'
import * as scenarios from './scenarios.ts'
import { summaryOf } from './summary.ts'

const SEED = Number(process.env.PUNCTUAL_CHAOS_SEED ?? 20_26)

let postgres: Promise<PostgresServer> | undefined
const server = () => {
  noteServer('PostgreSQL')
  return (postgres ??= startPostgres())
}
after(async () => {
  if (postgres) await (await postgres).stop('immediate')
})

/** Plays a scenario in its short form and shows its figures whatever comes of it. */
async function play(
  t: TestContext,
  faults: number,
  scenario: (plan: Plan) => Promise<Result>,
): Promise<Result> {
  const result = await scenario({ seed: SEED, faults, say: (line) => t.diagnostic(line) })
  const summary = `seed ${SEED}\n${summaryOf(result)}`
  t.diagnostic(summary)
  assert.equal(result.violations.length, 0, summary)
  assert.ok(result.figures.acknowledged > faults * 10, `hardly any load: ${summary}`)
  return result
}

describe('nothing is lost or doubled', { concurrency: true }, () => {
  describe('one after the other', { concurrency: false }, () => {
    test('when the only server of a SQLite file is killed 20 times under load', async (t) => {
      const { figures } = await play(t, 20, scenarios.sqliteKills)
      assert.ok((figures.faults.killed ?? 0) >= 20)
    })

    test('when PostgreSQL does not answer 20 commits', async (t) => {
      const { figures } = await play(t, 20, async (plan) =>
        scenarios.postgresCuts(await server(), plan),
      )
      assert.ok((figures.faults['cut after COMMIT'] ?? 0) >= 10)
    })
  })

  describe('beside these', { concurrency: false }, () => {
    test('when PostgreSQL crashes', async (t) => {
      await play(t, 1, async (plan) => scenarios.postgresRestarts(await server(), plan))
    })

    test('when one of two servers on PostgreSQL is killed or frozen, 20 times', async (t) => {
      const { figures } = await play(t, 20, async (plan) =>
        scenarios.postgresKills(await server(), plan),
      )
      assert.ok((figures.faults.killed ?? 0) >= 18 && (figures.faults.frozen ?? 0) >= 2)
    })
  })
})
