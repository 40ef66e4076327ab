import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawForecast } from '../../src/cli/render/draw-forecast.ts'
import { runProgram } from '../../src/cli/program.ts'
import type { WireForecast } from '../../src/core/schedule/forecast/views.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { createFakeTerminal } from './fake-terminal.ts'

const bar = (at: string, fires: number, busy = 0) => ({ at, fires, busy })

const WEEK: WireForecast = {
  from: '2026-03-28T08:00:00.000Z',
  until: '2026-03-31T08:00:00.000Z',
  complete: true,
  fires: 1_500,
  schedules: [
    { job: 'etl', schedule: 'n', words: 'every 3m', fires: 1_440, duration_ms: 90_000 },
    { job: 'mail', schedule: '1', words: 'hourly', fires: 60, duration_ms: null },
  ],
  more: 3,
  bars: [
    bar('2026-03-28T00:00:00.000Z', 500, 1),
    bar('2026-03-29T00:00:00.000Z', 1_000, 12.4),
    bar('2026-03-30T00:00:00.000Z', 0),
  ],
  bar_ms: 86_400_000,
  busiest: [bar('2026-03-29T02:00:00.000Z', 60, 12.4)],
  collisions: [
    {
      at: '2026-03-29T02:00:00.000Z',
      times: 2,
      schedules: 5,
      names: ['etl/n', 'mail/1', 'a/1', 'b/1', 'c/1'],
    },
  ],
  clock_changes: [
    {
      at: '2026-03-29T01:00:00.000Z',
      zone: 'Europe/Berlin',
      schedules: 4,
      from_offset: '+01:00',
      to_offset: '+02:00',
      moved: 2,
      left_out: 1,
      once: 0,
      twice: 0,
    },
  ],
}

test('a forecast shows the distribution of runs, the jobs that cause it, and what stands out', () => {
  const terminal = createFakeTerminal({ env: {}, columns: 80 })
  assert.equal(
    drawForecast(terminal, WEEK),
    `1,500 runs of 5 schedules in the next 3 days
  fullest hour Sun 2026-03-29 02:00: 60 runs, 12 slots busy

  by the day, UTC: runs, and how many at once
  Sat 2026-03-28  ████████████████████                      500  1 slot
  Sun 2026-03-29  ████████████████████████████████████████  1,000  12 slots
  Mon 2026-03-30                                            0

SCHEDULE  FIRES  TAKES   WHEN
etl/n     1,440  1m 30s  every 3m
mail/1    60     ?       hourly
and 3 more; see them with -n

Together at the same second
  5  Sun 2026-03-29 02:00:00 UTC, 2 times: etl/n, mail/1, a/1, 2 more

Clocks change
  Sun 2026-03-29  Europe/Berlin, +01:00 to +02:00: 2 fire after the change, 1
                  are left out
`,
  )
})

test('a year is shown in weeks, and an empty forecast as a hint', () => {
  const terminal = createFakeTerminal({ env: {}, columns: 80 })
  const start = Date.parse('2026-01-01T00:00:00Z')
  const bars = Array.from({ length: 366 }, (_, index) =>
    bar(new Date(start + index * 86_400_000).toISOString(), index),
  )
  const year = drawForecast(terminal, { ...WEEK, bars })
  assert.match(year, /week of Thu 2026-01-08 +█▏ +70\n/)
  assert.equal(year.match(/week of/g)?.length, 53)
  assert.match(drawForecast(terminal, { ...WEEK, schedules: [], more: 0 }), /punctual every/)
})

test('a forecast comes from the server, as text and as JSON', async (t) => {
  const { url, call } = await openApi(t)
  const run = async (...argv: string[]) => {
    const env = { PUNCTUAL_SERVER: url, PUNCTUAL_TOKEN: ROOT_TOKEN }
    const terminal = createFakeTerminal({ env, columns: 100 })
    const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
    return { code, ...terminal.written }
  }
  assert.match((await run('forecast')).out, /^Nothing is scheduled/)
  const schedule = [{ cron: '*/10 * * * *', zone: 'UTC' }]
  await call('PUT', '/v1/jobs/etl', { body: { run: 'true', schedule } })
  const { out } = await run('forecast', '--days', '2', 'etl')
  assert.match(out, /^288 runs of 1 schedule in the next 2 days\n/)
  assert.match(out, /by the hour, UTC/)
  assert.match(out, /etl\/1 +288 +\? +every 10 minutes/)
  const seen = JSON.parse((await run('forecast', '--days', '30', '-o', 'json')).out) as WireForecast
  assert.equal(seen.fires, 4_320)
  const { code, err } = await run('forecast', '--days', '400')
  assert.equal(code, 2)
  assert.match(err, /days must be a whole number, 1 to 366/)
})
