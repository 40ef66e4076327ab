import { type ClockChange, clockChanges } from '../index.ts'
import type { FiringGroup } from './groups.ts'

/** A night in which the clocks of a zone change, and the number of affected schedules. */
export interface ClockNight {
  readonly at: number
  readonly zone: string
  /** Offsets in seconds ahead of UTC. */
  readonly before: number
  readonly after: number
  /** All schedules in this zone. */
  readonly schedules: number
  /**
   * Schedules with a time that does not exist and fires later or not at all, or with a time that occurs twice and
   * fires once or twice.
   */
  readonly moved: number
  readonly leftOut: number
  readonly once: number
  readonly twice: number
}

export interface ClockNightSearch {
  add(group: FiringGroup): void
  done(): ClockNight[]
}

export function createClockNights(from: number, until: number): ClockNightSearch {
  const nights = new Map<string, ClockNight>()
  return {
    add({ source, members: { length: count } }) {
      const { zone = 'UTC' } = source
      for (const change of clockChanges(source, from, until)) {
        const { at, before, after } = change
        const key = `${at} ${zone}`
        const none = { schedules: 0, moved: 0, leftOut: 0, once: 0, twice: 0 }
        const night = nights.get(key) ?? { at, zone, before, after, ...none }
        const effect = effectOf(change, source.dst?.repeat === 'both')
        const noticed = effect === null ? {} : { [effect]: night[effect] + count }
        nights.set(key, { ...night, ...noticed, schedules: night.schedules + count })
      }
    },
    done: () => [...nights.values()].toSorted((a, b) => a.at - b.at || (a.zone < b.zone ? -1 : 1)),
  }
}

function effectOf({ gap, repeat }: ClockChange, isBoth: boolean) {
  if (gap) return gap.firesAt === null ? 'leftOut' : 'moved'
  if (repeat) return isBoth ? 'twice' : 'once'
  return null
}
