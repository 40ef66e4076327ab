// Tests docs/explanation/daylight-saving.md row by row: on the product, and on the oracle where the system has zones.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { oracleFires, productFires } from './compare.ts'
import { readTzif } from './tzif.ts'
import type { Policy } from './walk.ts'
import { skipWithoutZoneFiles, ZONE_FILES } from './zone-files.ts'

const PAGE = resolve(import.meta.dirname, '../../docs/explanation/daylight-saving.md')
const NIGHT = /^`(\S+)` from (\S+) until (\S+)$/m
const GAPS = ['run-after', 'skip'] as const
const REPEATS = ['first', 'both', 'last'] as const

interface Row {
  readonly night: string
  readonly zone: string
  readonly from: number
  readonly to: number
  readonly cron: string
  readonly policy: Partial<Policy>
  readonly fires: string
}

const rows = readFileSync(PAGE, 'utf8')
  .split(/^### /m)
  .slice(1)
  .flatMap((section) => readNight(section))

test('the page covers six places, gaps and repeated hours', () => {
  assert.equal(new Set(rows.map(({ zone }) => zone)).size, 6)
  for (const gap of GAPS) assert.ok(rows.some(({ policy }) => policy.gap === gap))
  for (const repeat of REPEATS) assert.ok(rows.some(({ policy }) => policy.repeat === repeat))
})

for (const row of rows) {
  const policy = Object.values(row.policy).join()
  test(`${row.night}, ${row.cron} with ${policy}: ${row.fires}`, () => {
    for (const dst of completed(row.policy)) {
      assert.equal(show(productFires({ ...row, dst }), row), row.fires)
    }
  })

  test(
    `the oracle: ${row.night}, ${row.cron} with ${policy}`,
    { skip: skipWithoutZoneFiles },
    () => {
      const clocks = readTzif(readFileSync(join(ZONE_FILES, row.zone)))
      for (const dst of completed(row.policy)) {
        assert.equal(show(oracleFires({ ...row, dst }, clocks), row), row.fires)
      }
    },
  )
}

function readNight(section: string): Row[] {
  const [, zone = '', from = '', to = ''] = NIGHT.exec(section) ?? []
  const [header = [], , ...lines] = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1))
  assert.ok(zone !== '' && lines.length > 0, `not a night: ${section.slice(0, 60)}`)
  const policies = header.slice(1).map((cell): Partial<Policy> => {
    const [name, value] = cell.replaceAll('`', '').trim().split(': ')
    return { [name!]: value }
  })
  return lines.flatMap(([rule = '', ...cells]) =>
    policies.map((policy, index) => {
      const cell = cells[index]!.trim()
      return {
        night: section.slice(0, section.indexOf('\n')),
        zone,
        from: Date.parse(from) / 1_000,
        to: Date.parse(to) / 1_000,
        cron: rule.replaceAll('`', '').trim(),
        policy,
        fires: cell === 'the same' ? cells[0]!.trim() : cell,
      }
    }),
  )
}

/** A row about one policy holds for every value of the other. */
function completed({ gap, repeat }: Partial<Policy>): Policy[] {
  return (gap ? [gap] : GAPS).flatMap((one) =>
    (repeat ? [repeat] : REPEATS).map((other) => ({ gap: one, repeat: other })),
  )
}

/** `03:00-04`, with the date before it if the row covers several days. */
function show(fires: readonly number[] | undefined, { zone, from, to }: Row): string {
  const isLong = local(from, zone).getUTCDate() !== local(to, zone).getUTCDate()
  const shown = fires?.map((second) => {
    const at = local(second, zone)
    const day = isLong ? `${at.getUTCDate()} ` : ''
    return `${day}${at.toISOString().slice(11, 16)}${offset(at.getTime() / 1_000 - second)}`
  })
  return shown?.join(', ') || 'nothing'
}

function offset(seconds: number): string {
  const minutes = Math.abs(seconds) / 60
  const two = (value: number) => String(value).padStart(2, '0')
  const rest = minutes % 60 === 0 ? '' : `:${two(minutes % 60)}`
  return `${seconds < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${rest}`
}

/** Local time as if it were UTC; from the runtime, which is neither product nor oracle. */
function local(second: number, timeZone: string): Date {
  const shown = new Date(second * 1_000).toLocaleString('sv-SE', { timeZone })
  return new Date(`${shown.replace(' ', 'T')}Z`)
}
