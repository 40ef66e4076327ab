import { parseDuration } from '../text/duration.ts'

const UNITS: readonly [unit: string, names: readonly string[]][] = [
  ['ms', ['ms', 'millisecond', 'milliseconds']],
  ['s', ['s', 'sec', 'secs', 'second', 'seconds']],
  ['m', ['m', 'min', 'mins', 'minute', 'minutes']],
  ['h', ['h', 'hr', 'hrs', 'hour', 'hours']],
  ['d', ['d', 'day', 'days']],
  ['w', ['w', 'week', 'weeks']],
]
const UNIT_OF = new Map(
  UNITS.flatMap(([unit, names]) => names.map((name) => [name, unit] as const)),
)
const PART = /^(?:and )?(?:(\d+(?:\.\d+)?) ?|(an?) )([a-z]+)(?=$|[\d ])(?: |$)?/

/** Reads `24h`, `1h30m`, `2 hours`, `an hour and 30 minutes`; undefined for anything else. */
export function readLength(phrase: string): number | undefined {
  let rest = phrase
  let duration = ''
  while (rest !== '') {
    const [part, count = '1', , name = ''] = PART.exec(rest) ?? []
    const unit = UNIT_OF.get(name)
    if (part === undefined || unit === undefined) return undefined
    duration += `${count}${unit}`
    rest = rest.slice(part.length)
  }
  return duration === '' ? undefined : parse(duration)
}

/** Rejects lengths of more than a century. */
function parse(duration: string): number | undefined {
  try {
    return parseDuration(duration)
  } catch {
    return undefined
  }
}

/** The words that a length may contain. */
export const LENGTH_WORDS: readonly string[] = [...UNIT_OF.keys()]
