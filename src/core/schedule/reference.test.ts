import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readRule, type RuleSource } from './index.ts'

const page = readFileSync(new URL('../../../docs/reference/schedules.md', import.meta.url), 'utf8')

test('each phrase in the reference means the cron expression next to it', () => {
  const rows = page
    .slice(page.indexOf('## every'), page.indexOf('## at'))
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').slice(1, 3).map(quotes))
  assert.ok(rows.length > 8)
  for (const [words = [], crons = []] of rows) {
    assert.ok(words.length > 0)
    for (const [index, every] of words.entries()) {
      const cron = crons.length === words.length ? crons[index] : undefined
      const fires = firstFires({ every })
      if (cron?.includes('*')) assert.deepEqual(fires, firstFires({ cron }), every)
    }
  }
})

test('accepts every cron expression in the reference', () => {
  const items = quotes(page.slice(page.indexOf('## cron'), page.indexOf('## every')))
  const nicknames = items.filter((item) => item.startsWith('@') && item !== '@reboot')
  assert.equal(nicknames.length, 8)
  for (const cron of [...nicknames, ...items.filter((item) => item.split(' ').length === 5)]) {
    assert.ok(readRule({ cron }).ok, cron)
  }
  for (const day of ['L', 'L-3', 'LW', '15W', '?']) {
    assert.ok(items.includes(day) && readRule({ cron: `0 0 ${day} * *` }).ok, day)
  }
  for (const day of ['5L', 'FRIL', '5#2', '?', 'FRI-SUN,MON']) {
    assert.ok(items.includes(day) && readRule({ cron: `0 0 * * ${day}` }).ok, day)
  }
  assert.ok(!readRule({ cron: '0 0 * * FRI-MON' }).ok)
})

function quotes(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, quoted]) => quoted!)
}

function firstFires(source: RuleSource): (number | null)[] {
  const reading = readRule(source)
  assert.ok(reading.ok, JSON.stringify([source, reading]))
  const fires = [reading.rule.next(Date.parse('2026-01-15T10:20:30Z'))]
  while (fires.length < 50 && fires.at(-1) != null) fires.push(reading.rule.next(fires.at(-1)!))
  return fires
}
