// Real processes, real databases, real signals. The load of 10,000 runs is `npm run chaos -- gates`.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, test, type TestContext } from 'node:test'
import { postgresUrl } from '../../support/servers.ts'
import { postgresAt, sqliteIn } from '../databases.ts'
import { gatesSummary } from './gates-summary.ts'
import { type GatesPlan, runGatesScenario } from './gates-scenario.ts'

const SEED = Number(process.env.PUNCTUAL_CHAOS_SEED ?? 20_26)
const skip = !existsSync('/usr/bin/flock') && 'the processes need flock: apt-get install util-linux'

async function run(
  t: TestContext,
  store: string,
  scenario: Pick<GatesPlan, 'servers' | 'database'>,
): Promise<void> {
  const size = { runs: 160, keys: 12, faults: 3 }
  const result = await runGatesScenario({ ...size, ...scenario, seed: SEED, report: () => {} })
  const summary = `seed ${SEED}\n${gatesSummary(store, result)}`
  t.diagnostic(summary)
  assert.deepEqual(result.violations, [], summary)
  const { lost, retried, cancelled, serverKills, workerKills, workerFreezes } = result.figures
  // A fault that did not happen was not tested.
  const met = { lost, retried, cancelled, serverKills, workerKills, workerFreezes }
  for (const [what, count] of Object.entries(met)) assert.ok(count > 0, `no ${what}: ${summary}`)
}

describe(
  'a key with one slot never has two holders and never loses the slot',
  { concurrency: true, skip },
  () => {
    test('while the server of a SQLite file and its workers are killed', (t) =>
      run(t, 'SQLite', { servers: 1, database: async (dir) => sqliteIn(dir) }))

    test('while servers on PostgreSQL and their workers are killed', (t) =>
      run(t, 'PostgreSQL', { servers: 2, database: async () => postgresAt(await postgresUrl()) }))
  },
)
