import { readRule } from '../../src/core/schedule/index.ts'
import { caseOf, changesIn, type OracleCase } from './cases.ts'
import { readSimpleCron } from './simple-cron.ts'
import type { Clocks } from './tzif.ts'
import { walk } from './walk.ts'
import type { SystemZones } from './zone-files.ts'

export interface Tally {
  readonly cases: number
  readonly fires: number
  /** Cases without any matching day, refused by the product. */
  readonly refused: number
  readonly mismatches: readonly Mismatch[]
}

export interface Mismatch {
  readonly number: number
  readonly at: OracleCase
  readonly product: string
  readonly oracle: string
}

export function compareCases(
  zones: SystemZones,
  { seed, first, count }: { seed: number; first: number; count: number },
): Tally {
  const changes = new Map<string, number[]>()
  const changesOf = (zone: string) => {
    const known = changes.get(zone) ?? changesIn(zones.clocks.get(zone)!)
    changes.set(zone, known)
    return known
  }
  let fires = 0
  let refused = 0
  const mismatches: Mismatch[] = []
  for (let number = first; number < first + count; number++) {
    const at = caseOf(seed, number, zones.clocks, changesOf)
    const oracle = oracleFires(at, zones.clocks.get(at.zone)!)
    const product = productFires(at)
    if (product === undefined && oracle.length === 0 && isWithoutDays(at)) refused++
    else if (product?.join() !== oracle.join()) {
      mismatches.push({ number, at, product: show(product), oracle: show(oracle) })
    }
    fires += oracle.length
  }
  return { cases: count, fires, refused, mismatches }
}

/** The calendar repeats after this many days, weekdays included. */
const DAYS_OF_400_YEARS = 146_097

function isWithoutDays({ cron }: OracleCase): boolean {
  const { dayMatches } = readSimpleCron(cron)
  for (let day = 0; day < DAYS_OF_400_YEARS; day++) if (dayMatches(day)) return false
  return true
}

export function oracleFires({ cron, dst, from, to }: OracleCase, clocks: Clocks): number[] {
  return walk(readSimpleCron(cron), clocks, dst, from, to)
}

/** Undefined if the product refuses the rule. */
export function productFires({ cron, zone, dst, from, to }: OracleCase): number[] | undefined {
  const reading = readRule({ cron, zone, dst })
  if (!reading.ok) return undefined
  const fires: number[] = []
  let at = from * 1_000 - 1
  for (;;) {
    const next = reading.rule.next(at)
    if (next === null || next > to * 1_000) return fires
    fires.push(next / 1_000)
    at = next
  }
}

/** As a row for the table of `next-fire.test.ts`. */
export function rowOf({ at, product, oracle }: Mismatch): string {
  const source = JSON.stringify({ cron: at.cron, zone: at.zone, dst: at.dst })
  const from = new Date(at.from * 1_000).toISOString()
  return `['the oracle says so', ${source}, '${from}', ${oracle}],\n  // product: ${product}`
}

function show(fires: readonly number[] | undefined): string {
  if (!fires) return 'refused'
  return JSON.stringify(fires.slice(0, 40).map((second) => new Date(second * 1_000).toISOString()))
}
