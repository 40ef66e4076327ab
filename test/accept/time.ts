import assert from 'node:assert/strict'
import { join } from 'node:path'
import { installPeers } from '../../bench/harness/peers.ts'
import type { Check } from './check.ts'
import { npm, run } from './commands.ts'
import { findOutputLine } from './findings.ts'
import { measure, passTests, requireAll, withoutViolations } from './measuring.ts'
import { timeYearAhead } from './year-ahead.ts'

const ROOT = join(import.meta.dirname, '../..')
const NO_ZONE_FILES = /zoneinfo/
const YEAR_AHEAD_MS = 5_000

/** Acceptance checks of time: rules, firing, daylight-saving changes, forecasts, older protocols. */
export const checks: Check[] = [
  {
    id: 'T1',
    title:
      'rules agree with an independent oracle in all zones, and hostile ones are answered soon',
    async run(report) {
      const parts = ['test/oracle/oracle', 'test/oracle/malformed']
      requireAll(await passTests(ROOT, parts, report), NO_ZONE_FILES)
      const printed = await npm(ROOT, ['run', 'oracle', '--', '--cases', '100000'])
      report.figure('oracle', findOutputLine(printed, /^100000 cases of seed .* 0 mismatches$/))
      await installPeers()
      const compared = await run(process.execPath, ['test/oracle/compare-libraries.ts'], ROOT)
      for (const row of compared.split('\n').filter((line) => line.startsWith('| '))) {
        report.figure('libraries', row)
      }
    },
  },
  {
    id: 'T2',
    title: 'servers killed, frozen and with their clocks set: every time has exactly one fate',
    async run(report) {
      await passTests(ROOT, ['test/chaos/schedules/', 'test/sim/schedules/'], report)
      await withoutViolations(ROOT, ['schedules'], report)
      const seeds = ['--world', 'schedules', '--seeds', '200', '--moves', '120']
      const printed = await npm(ROOT, ['run', 'sim', '--', ...seeds])
      report.figure('sim', findOutputLine(printed, /^200 seeds, .* 0 with violations$/))
    },
  },
  {
    id: 'T3',
    title: 'fired on time: each second, at one instant, and with a million to come',
    run: (report) => measure(ROOT, ['fire'], report),
  },
  {
    id: 'T4',
    title: 'the document of nights on which clocks change is true, line by line',
    async run(report) {
      const printed = await passTests(ROOT, ['test/oracle/daylight-saving'], report)
      requireAll(printed, NO_ZONE_FILES)
    },
  },
  {
    id: 'T5',
    title: 'every, at, next, forecast and import crontab; a year of 1,000 schedules within 5 s',
    async run(report) {
      const commands = ['schedules', 'forecast', 'import-crontab']
      const parts = [...commands.map((name) => `test/cli/${name}`), 'test/api/forecast']
      await passTests(ROOT, parts, report)
      const { ms, schedules } = await timeYearAhead()
      report.figure(`a year of ${schedules} schedules`, `${ms.toFixed(0)} ms`)
      assert.equal(schedules, 1_000)
      assert.ok(ms <= YEAR_AHEAD_MS, `${ms} ms`)
    },
  },
  {
    id: 'T6',
    title: 'what older schedulers promise, tried with sh and curl, with and without a token',
    async run(report) {
      requireAll(await passTests(ROOT, ['test/compat/'], report), /curl/)
    },
  },
  {
    id: 'T7',
    title: 'a bad rule, zone, date or delay is refused with its field and what would be right',
    async run(report) {
      const parts = ['test/api/bad-schedules', 'test/compat/bad-input', 'src/core/schedule/']
      await passTests(ROOT, parts, report)
    },
  },
]
