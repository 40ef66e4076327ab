import { type ClockChange, clockChanges } from '../index.ts'
import type { Group } from './groups.ts'

/** A night in which the clocks of a zone change, and how many schedules notice. */
export interface ClockNight {
  readonly at: number
  readonly zone: string
  /** In seconds ahead of UTC. */
  readonly before: number
  readonly after: number
  /** All that live by these clocks. */
  readonly schedules: number
  /** A time that does not exist is made up for, or is not; one that comes twice fires once, or twice. */
  readonly moved: number
  readonly leftOut: number
  readonly once: number
  readonly twice: number
}

export interface ClockNightSearch {
  add(group: Group): void
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
