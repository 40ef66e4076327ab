// Real processes, a real database, real signals. The long version: `npm run chaos -- schedules`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresUrl } from '../../support/servers.ts'
import { postgresAt } from '../databases.ts'
import { runSchedulesScenario } from './schedules-scenario.ts'
import { schedulesSummary } from './schedules-summary.ts'

const SEED = Number(process.env.PUNCTUAL_CHAOS_SEED ?? 20_26)

test('1,000 schedules that fire every second, on servers that are killed, frozen and get other clocks', async (t) => {
  const result = await runSchedulesScenario({
    schedules: 1_000,
    seconds: 20,
    servers: 3,
    workers: 3,
    seed: SEED,
    database: async () => postgresAt(await postgresUrl()),
    report: () => {},
  })
  const summary = `seed ${SEED}\n${schedulesSummary(result)}`
  t.diagnostic(summary)
  assert.deepEqual(result.violations, [], summary)
  // A fault or outcome that did not occur was not tested.
  for (const kind of ['killed', 'frozen', 'clock-set'] as const) {
    assert.ok((result.faults[kind] ?? 0) > 0, `no ${kind}: ${summary}`)
  }
  assert.ok(result.starts > 0, `no run started: ${summary}`)
  for (const outcome of ['fired', 'blocked', 'skipped', 'merged'] as const) {
    assert.ok(result.stats.times[outcome] > 0, `none ${outcome}: ${summary}`)
  }
})

test('a run stored before its due time starts at that time when servers are killed, frozen and get other clocks', async (t) => {
  const result = await runSchedulesScenario({
    schedules: 30,
    onlyHandled: true,
    seconds: 8,
    servers: 3,
    workers: 3,
    seed: SEED,
    database: async () => postgresAt(await postgresUrl()),
    report: () => {},
  })
  const summary = `seed ${SEED}\n${schedulesSummary(result)}`
  t.diagnostic(summary)
  assert.deepEqual(result.violations, [], summary)
  assert.ok(result.starts > 0, `no run started: ${summary}`)
  assert.ok(result.stats.onTheDot > 0, `none fired ahead: ${summary}`)
})
