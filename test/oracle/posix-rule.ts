/** The rule at the end of a zone file, for all times after the last listed one. */
const NAME = String.raw`(?:<[^>]+>|[A-Za-z]+)`
const TIME = String.raw`[+-]?\d+(?::\d+(?::\d+)?)?`
const RULE = new RegExp(
  `^${NAME}(?<standard>${TIME})(?:${NAME}(?<summer>${TIME})?,(?<begins>[^,]+),(?<ends>[^,]+))?$`,
)

const parsed = new Map<string, Parsed>()

interface Parsed {
  readonly standard: number
  readonly summer: number
  readonly begins: ((year: number) => number) | undefined
  readonly ends: ((year: number) => number) | undefined
}

/** Seconds ahead of UTC; POSIX uses the opposite sign. */
export function posixOffset(rule: string, second: number): number {
  const { standard, summer, begins, ends } = parse(rule)
  if (!begins || !ends) return standard
  // A year by standard time; a rule may reach a few days into the next year.
  const year = new Date((second + standard) * 1_000).getUTCFullYear()
  let offset = standard
  let latest = -Infinity
  for (const candidate of [year - 1, year, year + 1]) {
    const on = begins(candidate) - standard
    const off = ends(candidate) - summer
    if (on <= second && on > latest) [latest, offset] = [on, summer]
    if (off <= second && off > latest) [latest, offset] = [off, standard]
  }
  return offset
}

/** The two seconds of a year at which clocks change, if they do. */
export function posixChanges(rule: string, year: number): number[] {
  const { standard, summer, begins, ends } = parse(rule)
  return begins && ends ? [begins(year) - standard, ends(year) - summer] : []
}

function parse(rule: string): Parsed {
  const known = parsed.get(rule)
  if (known) return known
  const groups = RULE.exec(rule)?.groups
  if (!groups) throw new Error(`not a POSIX rule: ${rule}`)
  const standard = 0 - seconds(groups['standard']!)
  const summer = groups['summer'] === undefined ? standard + 3_600 : 0 - seconds(groups['summer'])
  const { begins, ends } = groups
  const result = {
    standard,
    summer,
    begins: begins === undefined ? undefined : remembered(dayRule(begins)),
    ends: ends === undefined ? undefined : remembered(dayRule(ends)),
  }
  parsed.set(rule, result)
  return result
}

function seconds(time: string): number {
  const [hours = 0, minutes = 0, rest = 0] = time.replace(/^[+-]/, '').split(':').map(Number)
  return (hours * 3_600 + minutes * 60 + rest) * (time.startsWith('-') ? -1 : 1)
}

function remembered(secondIn: (year: number) => number): (year: number) => number {
  const known = new Map<number, number>()
  return (year) => {
    const second = known.get(year) ?? secondIn(year)
    known.set(year, second)
    return second
  }
}

/** `M3.2.0/2`, `J60`, `59`: the local second of the change in a year. */
function dayRule(text: string): (year: number) => number {
  const [date = '', time = '2'] = text.split('/')
  const month = /^M(\d+)\.(\d+)\.(\d+)$/.exec(date)
  if (month) {
    const [, number, week, weekday] = month.map(Number) as [number, number, number, number]
    return (year) => nthWeekday(year, number, week, weekday) + seconds(time)
  }
  const isJulian = date.startsWith('J')
  const day = Number(isJulian ? date.slice(1) : date)
  return (year) => {
    const isLeap = new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1
    const index = isJulian ? day - 1 + (isLeap && day >= 60 ? 1 : 0) : day
    return Date.UTC(year, 0, 1 + index) / 1_000 + seconds(time)
  }
}

function nthWeekday(year: number, month: number, week: number, weekday: number): number {
  const days: number[] = []
  for (let day = 1; day <= 31; day++) {
    const date = new Date(Date.UTC(year, month - 1, day))
    if (date.getUTCMonth() === month - 1 && date.getUTCDay() === weekday) days.push(+date / 1_000)
  }
  return week === 5 ? days.at(-1)! : days[week - 1]!
}
