import { parseDuration } from '../text/duration.ts'
import { PunctualError } from '../errors.ts'
import { localTime } from './local-time.ts'
import { readRule } from './read-rule.ts'
import { quoted } from './rule/rule-error.ts'
import { weekdayNamed } from './words/vocabulary.ts'

const DAY_MS = 86_400_000
const HINT = 'Write 2027-01-01T09:00, tomorrow 09:00, friday at 17:30, 09:00 or in 2 hours.'
const UNITS: Readonly<Record<string, string>> = {
  ...{ second: 's', minute: 'm', hour: 'h', day: 'd', week: 'w' },
}
const LENGTH = /^(an?|\d+) (second|minute|hour|day|week)s?$/
const DAY_AND_TIME = /^(?:(?:on )?([a-z]+) )?(?:at )?(noon|midnight|(\d{1,2}):(\d\d))$/

export interface Here {
  readonly now: number
  /** On whose clocks. */
  readonly zone: string
}

/** An instant as people say it: `tomorrow 09:00`, `in 2 hours`, or a date and a time. */
export function readWhen(text: string, here: Here, field = 'when'): number {
  const said = text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
  const at = said.startsWith('in ') ? here.now + readLength(said.slice(3)) : readDay(said, here)
  if (at !== undefined && !Number.isNaN(at)) return at
  const reading = readRule({ at: text.trim(), zone: here.zone })
  const instant = reading.ok ? reading.rule.next(-1) : null
  if (instant !== null) return instant
  const why = reading.ok ? `${quoted(text)} is before 1970` : reading.problem.message
  throw new PunctualError('invalid_schedule', `${field}: ${why}`, { field, hint: HINT })
}

/** `2 hours`, `an hour`, `1h30m`; not a number if it is none of them. */
function readLength(said: string): number {
  const [, many, unit] = LENGTH.exec(said) ?? []
  const count = many === undefined || many.startsWith('a') ? '1' : many
  try {
    return parseDuration(unit === undefined ? said : `${count}${UNITS[unit]}`)
  } catch {
    return Number.NaN
  }
}

/** A time of a day that is named, or of the next on which it is still to come. */
function readDay(said: string, { now, zone }: Here): number | undefined {
  const [, day, time, hour = time === 'noon' ? '12' : '0', minute = '00'] =
    DAY_AND_TIME.exec(said) ?? []
  if (time === undefined) return undefined
  const today = Date.parse(`${localTime(now, zone).slice(0, 10)}T00:00:00Z`)
  const on = (days: number) => {
    const date = new Date(today + days * DAY_MS).toISOString().slice(0, 10)
    const reading = readRule({ at: `${date}T${hour.padStart(2, '0')}:${minute}`, zone })
    return reading.ok ? (reading.rule.next(-1) ?? undefined) : undefined
  }
  if (day === 'today') return on(0)
  if (day === 'tomorrow') return on(1)
  const weekday = weekdayNamed(day)
  if (day !== undefined && weekday === undefined) return undefined
  const ahead = day === undefined ? 0 : (Number(weekday) - new Date(today).getUTCDay() + 7) % 7
  const first = on(ahead)
  return first !== undefined && first <= now ? on(ahead + (day === undefined ? 1 : 7)) : first
}
