// Real processes, a real database, real signals. Minutes of it: `npm run chaos -- schedules`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresUrl } from '../../support/servers.ts'
import { postgresAt } from '../databases.ts'
import { playSchedules } from './schedules-scenario.ts'
import { schedulesSummary } from './schedules-summary.ts'

const SEED = Number(process.env.PUNCTUAL_CHAOS_SEED ?? 20_26)

test('1,000 schedules of every second on servers that die, freeze and lose the time', async (t) => {
  const result = await playSchedules({
    ...{ schedules: 1_000, seconds: 20, servers: 3, workers: 3, seed: SEED },
    database: async () => postgresAt(await postgresUrl()),
    say: () => {},
  })
  const summary = `seed ${SEED}\n${schedulesSummary(result)}`
  t.diagnostic(summary)
  assert.deepEqual(result.violations, [], summary)
  // What did not happen was not survived.
  for (const kind of ['killed', 'frozen', 'clock-set'] as const) {
    assert.ok((result.faults[kind] ?? 0) > 0, `no ${kind}: ${summary}`)
  }
  assert.ok(result.starts > 0, `no run started: ${summary}`)
  for (const outcome of ['fired', 'blocked', 'skipped', 'merged'] as const) {
    assert.ok(result.fates.times[outcome] > 0, `none ${outcome}: ${summary}`)
  }
})

test('what is durable before its instant starts at it, whoever dies, freezes or loses the time', async (t) => {
  const result = await playSchedules({
    ...{ schedules: 30, onlyHandled: true, seconds: 8, servers: 3, workers: 3, seed: SEED },
    database: async () => postgresAt(await postgresUrl()),
    say: () => {},
  })
  const summary = `seed ${SEED}\n${schedulesSummary(result)}`
  t.diagnostic(summary)
  assert.deepEqual(result.violations, [], summary)
  assert.ok(result.starts > 0, `no run started: ${summary}`)
  assert.ok(result.fates.onTheDot > 0, `none fired ahead: ${summary}`)
})
