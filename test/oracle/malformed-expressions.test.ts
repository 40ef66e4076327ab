import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compilePlan } from '../../src/core/schedule/calendar/calendar-rule.ts'
import { readCron } from '../../src/core/schedule/cron/read-cron.ts'
import { readRule } from '../../src/core/schedule/index.ts'
import { RuleError } from '../../src/core/schedule/rule/rule-error.ts'
import { REPEATS, GAPS } from '../../src/core/schedule/rule/rule.ts'
import { MAX_STEPS, nextOnCalendar } from '../../src/core/schedule/zones/next-on-calendar.ts'
import { zoneNamed } from '../../src/core/schedule/zones/zone-names.ts'
import { MALFORMED_EXPRESSIONS } from './malformed-expressions.ts'

const ZONES = [
  'UTC',
  'America/New_York',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Pacific/Apia',
  'Europe/Dublin',
  'Antarctica/Troll',
  'Africa/Monrovia',
  'Asia/Gaza',
]
const MOMENTS = [
  '1970-01-01',
  '1999-12-31',
  '2011-12-29',
  '2026-03-07',
  '2087-06-01',
  '9999-12-30',
].map((day) => Date.parse(`${day}T00:00:00Z`))

test('every malformed expression is either read or refused', () => {
  for (const cron of MALFORMED_EXPRESSIONS) {
    const reading = readRule({ cron })
    if (reading.ok) continue
    const { field, message, hint = '' } = reading.problem
    assert.equal(field, 'cron')
    assert.ok(message.length < 200 && hint.length < 200, message)
    assert.doesNotMatch(message + hint, /[\p{C}]/u, 'nothing that moves a cursor')
  }
})

test(`every malformed expression is answered within ${MAX_STEPS} steps in any zone`, () => {
  let most = 0
  for (const cron of MALFORMED_EXPRESSIONS) {
    const plan = planFor(cron)
    if (!plan) continue
    for (const name of ZONES) {
      for (const gap of GAPS) {
        for (const repeat of REPEATS) {
          for (const after of MOMENTS) {
            const patience = { steps: MAX_STEPS }
            const next = nextOnCalendar(plan, zoneNamed(name), { gap, repeat }, after, patience)
            assert.ok(patience.steps > 0, `${cron} in ${name} was given up, not answered`)
            assert.ok(next === null || next > after)
            most = Math.max(most, MAX_STEPS - patience.steps)
          }
        }
      }
    }
  }
  assert.ok(most > 600, `the worst took ${most} steps: these were not hostile`)
})

test('the search budget ends a search that would not end by itself', () => {
  const patience = { steps: 10 }
  const plan = planFor('0 0 * 2 5#5')!
  assert.equal(
    nextOnCalendar(plan, zoneNamed('UTC'), { gap: 'skip', repeat: 'first' }, 0, patience),
    null,
  )
  assert.ok(patience.steps <= 0 && patience.steps > -5)
})

function planFor(cron: string) {
  try {
    return compilePlan(readCron(cron, 'seed'))
  } catch (error) {
    assert.ok(error instanceof RuleError, `${cron}: ${String(error)}`)
    return undefined
  }
}
