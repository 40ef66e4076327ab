import { createSeeded, type Seeded } from '../sim/seeded.ts'
import { randomCron } from './random-cron.ts'
import type { Clocks } from './tzif.ts'
import type { Policy } from './walk.ts'

/** A rule and a time range to compare it in. Prints as a line for a table test. */
export interface OracleCase {
  readonly cron: string
  readonly zone: string
  readonly dst: Policy
  /** Seconds since 1970, both inclusive. */
  readonly from: number
  readonly to: number
}

const HOUR = 3_600
const FIRST = 3 * 24 * HOUR
const LAST = Date.UTC(2037, 11, 28) / 1_000

/** Case number `index` of a seed: always the same, and computable without the cases before it. */
export function caseOf(
  seed: number,
  index: number,
  zones: ReadonlyMap<string, Clocks>,
  changesOf: (zone: string) => readonly number[],
): OracleCase {
  const chance = createSeeded(seed * 1_000_003 + index)
  const names = [...zones.keys()]
  // Every zone in turn, so that none is left to chance.
  const zone = names[index % names.length]!
  const clocks = zones.get(zone)!
  const changes = changesOf(zone)
  const change =
    changes.length > 0 && chance.chance(0.95) ? chance.pick(changes) : chance.between(FIRST, LAST)
  const hasSeconds = chance.chance(0.25)
  const reach = hasSeconds ? 2 * HOUR : 48 * HOUR
  const local = new Date((change + clocks.offsetAt(change - 1)) * 1_000)
  return {
    cron: randomCron(chance, local, hasSeconds),
    zone,
    dst: randomPolicy(chance),
    from: change - reach,
    to: change + reach,
  }
}

export function changesIn(clocks: Clocks): number[] {
  return clocks.changes(FIRST, LAST)
}

function randomPolicy(chance: Seeded): Policy {
  return {
    gap: chance.pick(['run-after', 'skip'] as const),
    repeat: chance.pick(['first', 'both', 'last'] as const),
  }
}
