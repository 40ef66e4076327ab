import type { TimeFields, TimeList, CronField } from '../calendar/calendar-rule.ts'
import { writeTime } from '../calendar/times-of-day.ts'
import { joinWords } from '../../text/join-words.ts'

/** A phrase for the times of a day, and whether it precedes the days. */
export interface TimesPhrase {
  readonly text: string
  readonly comesFirst: boolean
}

/** Maximum number of times that are listed one by one, and minimum number that are described as an interval. */
export const MAX_LISTED_TIMES = 24
const MIN_INTERVAL_TIMES = 4
/** A rule with more times than this is described field by field. */
const MAX_EXPANDED = 1_440

export function describeTimes(times: TimeFields | TimeList): TimesPhrase {
  if (times.kind === 'list') return describeList(times.seconds) ?? everyOf(times.seconds)
  const { second, minute, hour } = times
  const seconds = second?.values ?? [0]
  if (hour.isWild) return { text: describeInterval(times), comesFirst: true }
  const list = expanded(hour.values, minute.values, seconds)
  return (list && describeList(list)) ?? { text: byFields(second, minute, hour), comesFirst: true }
}

function describeList(seconds: readonly number[]): TimesPhrase | undefined {
  const [first = 0, following = 0] = seconds
  const step = following - first
  const isEven = seconds.every((second, index) => second === first + index * step)
  if (seconds.length >= MIN_INTERVAL_TIMES && isEven && step % 60 === 0) {
    const window = `between ${writeTime(first)} and ${writeTime(seconds.at(-1)!)}`
    return { text: `every ${minutes(step / 60)} ${window}`, comesFirst: true }
  }
  return seconds.length <= MAX_LISTED_TIMES ? everyOf(seconds) : undefined
}

function everyOf(seconds: readonly number[]): TimesPhrase {
  return { text: `at ${joinWords(seconds.map(writeTime))}`, comesFirst: false }
}

function minutes(count: number): string {
  return count % 60 === 0 ? counted(count / 60, 'hour') : counted(count, 'minute')
}

function counted(count: number, unit: string): string {
  return count === 1 ? unit : `${count} ${unit}s`
}

/** Describes rules that follow elapsed time. */
function describeInterval({ second, minute, hour }: TimeFields): string {
  const seconds = second?.values ?? [0]
  const isOnTheMinute = seconds.length === 1 && seconds[0] === 0
  const hours = evenStep(hour, 24)
  const everyMinute = hours === 1 ? evenStep(minute, 60) : undefined
  if (everyMinute === 1 && second && evenStep(second, 60) !== undefined) {
    return `every ${counted(evenStep(second, 60)!, 'second')}`
  }
  if (isOnTheMinute && everyMinute !== undefined) return `every ${counted(everyMinute, 'minute')}`
  if (isOnTheMinute && hours !== undefined && !minute.isWild) {
    const each = `every ${counted(hours, 'hour')}`
    return minute.text === '0' ? each : `${each} at ${numbered('minute', minute.values)}`
  }
  return byFields(second, minute, hour)
}

/** The step of `*`, or of `*` with a step, if it divides the range evenly; undefined otherwise. */
function evenStep({ isWild, text }: CronField, whole: number): number | undefined {
  const [, step = '1'] = /^\*(?:\/(\d+))?$/.exec(text) ?? []
  return isWild && !text.includes(',') && whole % Number(step) === 0 ? Number(step) : undefined
}

/** A description field by field, for rules without a natural phrase. */
function byFields(second: CronField | undefined, minute: CronField, hour: CronField): string {
  const parts = [
    ...(second && second.text !== '0' ? [part('second', second, 60)] : []),
    part('minute', minute, 60),
    part('hour', hour, 24),
  ]
  return `at ${parts.join(' of ')}`
}

function part(unit: string, { values }: CronField, whole: number): string {
  return values.length === whole ? `every ${unit}` : numbered(unit, values)
}

function numbered(unit: string, values: readonly number[]): string {
  return `${unit}${values.length === 1 ? '' : 's'} ${joinWords(values.map(String))}`
}

function expanded(
  hours: readonly number[],
  minutes: readonly number[],
  seconds: readonly number[],
): number[] | undefined {
  if (hours.length * minutes.length * seconds.length > MAX_EXPANDED) return undefined
  return hours.flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => hour * 3_600 + minute * 60 + second)),
  )
}
