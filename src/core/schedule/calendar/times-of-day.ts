import { bitMaskOf, splitBitMaskOf, type TimeCombination } from './plan.ts'

/** Converts seconds of a day to combinations of fields; hours with the same minutes are combined. */
export function combineTimes(seconds: readonly number[]): TimeCombination[] {
  const minutesBy = new Map<string, number[]>()
  for (const time of seconds) {
    const hour = Math.floor(time / 3_600)
    const key = `${hour}:${time % 60}`
    minutesBy.set(key, [...(minutesBy.get(key) ?? []), Math.floor(time / 60) % 60])
  }
  const hoursBy = new Map<string, number[]>()
  for (const [key, minutes] of minutesBy) {
    const [hour, second] = key.split(':')
    const shape = `${second}:${minutes.join()}`
    hoursBy.set(shape, [...(hoursBy.get(shape) ?? []), Number(hour)])
  }
  return [...hoursBy].map(([shape, hours]) => {
    const [second, minutes] = shape.split(':') as [string, string]
    return {
      hours: bitMaskOf(hours),
      minutes: splitBitMaskOf(minutes.split(',').map(Number)),
      seconds: splitBitMaskOf([Number(second)]),
    }
  })
}

/** `09:05`, or `09:05:30` with seconds. */
export function writeTime(second: number): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const time = `${two(Math.floor(second / 3_600))}:${two(Math.floor(second / 60) % 60)}`
  return second % 60 === 0 ? time : `${time}:${two(second % 60)}`
}

const CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d))?(am|pm)?$/
const HALF_DAY = /^(\d{1,2})(am|pm)$/

/** Reads `9:05`, `09:05:30`, `5pm`, `5:30pm`, `noon`, `midnight`; undefined for anything else. */
export function readTime(word: string | undefined): number | undefined {
  if (word === 'noon') return 12 * 3_600
  if (word === 'midnight') return 0
  const [, half, halfName] = HALF_DAY.exec(word ?? '') ?? []
  if (half !== undefined) return readTime(`${half}:00${halfName}`)
  const [, hours, minutes, seconds = '0', name] = CLOCK.exec(word ?? '') ?? []
  if (hours === undefined || Number(minutes) > 59 || Number(seconds) > 59) return undefined
  const hour = name === undefined ? Number(hours) : hourOfHalf(Number(hours), name)
  if (!(hour <= 23)) return undefined
  return hour * 3_600 + Number(minutes) * 60 + Number(seconds)
}

function hourOfHalf(hour: number, name: string): number {
  return hour >= 1 && hour <= 12 ? (hour % 12) + (name === 'pm' ? 12 : 0) : NaN
}
