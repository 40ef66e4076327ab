import { DAY_SECONDS } from './calendar/dates.ts'
import { resolveLocal } from './one-shot.ts'
import { RuleError } from './rule/rule-error.ts'
import { zoneNamed } from './zones/zone-names.ts'

/** A local clock: of a zone, or with a fixed offset from UTC. */
export interface LocalClock {
  /** Days from 1970-01-01 to the local date. */
  dayAt(instant: number): number
  /**
   * The instant of a local second. A second that is skipped becomes the end of the gap; of a repeated second, the
   * first is used.
   */
  resolve(localSecond: number): number
}

const POLICY = { gap: 'run-after', repeat: 'first' } as const

/** The clock of a zone, with the default policy for clock changes. */
export function clockOfZone(zoneName: string): LocalClock {
  const zone = zoneNamed(zoneName)
  return {
    dayAt(instant) {
      const second = Math.floor(instant / 1_000)
      return Math.floor((second + zone.periodAt(second).offset) / DAY_SECONDS)
    },
    resolve: (localSecond) => resolveLocal(localSecond, { zone, policy: POLICY }),
  }
}

/** The clock for `z` or `+02:00`. */
export function clockAtOffset(offset: string): LocalClock {
  const [, sign, hours = 0, minutes = 0] = /^([+-])(\d\d):(\d\d)$/.exec(offset) ?? []
  if (Number(hours) > 23 || Number(minutes) > 59) {
    throw new RuleError('when', `no zone has the offset ${offset}`)
  }
  const seconds = (Number(hours) * 3_600 + Number(minutes) * 60) * (sign === '-' ? -1 : 1)
  return {
    dayAt: (instant) => Math.floor((instant / 1_000 + seconds) / DAY_SECONDS),
    resolve: (localSecond) => (localSecond - seconds) * 1_000,
  }
}
