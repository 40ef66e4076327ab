import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { compareCases, oracleFires, productFires, rowOf } from './compare.ts'
import { posixOffset } from './posix-rule.ts'
import {
  describeZones,
  readSystemZones,
  skipWithoutZoneFiles,
  type SystemZones,
} from './zone-files.ts'

const CASES = 2_000
const seed = Number(process.env['PUNCTUAL_ORACLE_SEED'] ?? 20_261_116)

describe('the oracle', { skip: skipWithoutZoneFiles }, () => {
  let zones: SystemZones
  before(() => {
    zones = readSystemZones()
  })

  test(`agrees on ${CASES} rules in all zones`, (t) => {
    t.diagnostic(describeZones(zones))
    assert.ok(zones.clocks.size > 400, 'most zones are the same on both sides')
    const { fires, mismatches } = compareCases(zones, { seed, first: 0, count: CASES })
    t.diagnostic(`${CASES} cases of seed ${seed}: ${fires} fires`)
    assert.deepEqual(mismatches.slice(0, 5).map(rowOf), [])
    assert.ok(fires > 100 * CASES, 'the rules fire while they are looked at')
  })

  test('would detect another policy', () => {
    const at = (text: string) => Date.parse(text) / 1_000
    const night = {
      zone: 'America/New_York',
      from: at('2024-11-03T00:00Z'),
      to: at('2024-11-04T00:00Z'),
    }
    const rule = { cron: '30 1 * * *', ...night }
    const zone = zones.clocks.get(night.zone)!
    const first = { gap: 'run-after', repeat: 'first' } as const
    const last = { gap: 'run-after', repeat: 'last' } as const
    assert.deepEqual(
      productFires({ ...rule, dst: first }),
      oracleFires({ ...rule, dst: first }, zone),
    )
    assert.notDeepEqual(
      productFires({ ...rule, dst: last }),
      oracleFires({ ...rule, dst: first }, zone),
    )
  })
})

const FOOTERS: readonly [rule: string, at: string, hours: number][] = [
  ['EST5EDT,M3.2.0,M11.1.0', '2026-03-08T06:59:59Z', -5],
  ['EST5EDT,M3.2.0,M11.1.0', '2026-03-08T07:00:00Z', -4],
  ['EST5EDT,M3.2.0,M11.1.0', '2026-11-01T05:59:59Z', -4],
  ['EST5EDT,M3.2.0,M11.1.0', '2026-11-01T06:00:00Z', -5],
  ['<+1030>-10:30<+11>-11,M10.1.0,M4.1.0', '2026-10-03T15:30:00Z', 11],
  ['IST-1GMT0,M10.5.0,M3.5.0/1', '2026-10-25T00:59:59Z', 1],
  ['IST-1GMT0,M10.5.0,M3.5.0/1', '2026-10-25T01:00:00Z', 0],
  ['<-02>2<-01>,M3.5.0/-1,M10.5.0/0', '2026-03-29T00:59:59Z', -2],
  ['<-02>2<-01>,M3.5.0/-1,M10.5.0/0', '2026-03-29T01:00:00Z', -1],
  ['EET-2EEST,M3.4.4/50,M10.4.4/50', '2026-03-28T00:00:00Z', 3],
  ['XXX0YYY,J60/0,59/0', '2028-03-01T00:00:00Z', 1],
  ['<+05>-5', '2400-01-01T00:00:00Z', 5],
]
for (const [rule, at, hours] of FOOTERS) {
  test(`the oracle reads ${rule} at ${at}`, () => {
    assert.equal(posixOffset(rule, Date.parse(at) / 1_000), hours * 3_600)
  })
}
