// Real processes, real databases, real signals. The crowd of 10,000 is `npm run chaos -- gates`.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, test, type TestContext } from 'node:test'
import { postgresUrl } from '../../support/servers.ts'
import { postgresAt, sqliteIn } from '../databases.ts'
import { gatesSummary } from './gates-summary.ts'
import { type GatesPlan, playGates } from './gates-scenario.ts'

const SEED = Number(process.env.PUNCTUAL_CHAOS_SEED ?? 20_26)
const skip = !existsSync('/usr/bin/flock') && 'the processes need flock: apt-get install util-linux'

async function play(
  t: TestContext,
  store: string,
  casting: Pick<GatesPlan, 'servers' | 'database'>,
): Promise<void> {
  const size = { runs: 160, keys: 12, faults: 3 }
  const result = await playGates({ ...size, ...casting, seed: SEED, say: () => {} })
  const summary = `seed ${SEED}\n${gatesSummary(store, result)}`
  t.diagnostic(summary)
  assert.deepEqual(result.violations, [], summary)
  const { lost, retried, cancelled, serverKills, workerKills, workerFreezes } = result.figures
  // What did not happen was not survived.
  const met = { lost, retried, cancelled, serverKills, workerKills, workerFreezes }
  for (const [what, count] of Object.entries(met)) assert.ok(count > 0, `no ${what}: ${summary}`)
}

describe('a key with one place never has two, nor loses it', { concurrency: true, skip }, () => {
  test('while the server of a SQLite file and its workers are killed', (t) =>
    play(t, 'SQLite', { servers: 1, database: async (dir) => sqliteIn(dir) }))

  test('while servers on PostgreSQL and their workers are killed', (t) =>
    play(t, 'PostgreSQL', { servers: 2, database: async () => postgresAt(await postgresUrl()) }))
})
