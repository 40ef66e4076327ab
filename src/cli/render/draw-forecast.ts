import { formatDuration } from '../../core/text/duration.ts'
import type {
  WireClockNight,
  WireCollision,
  WireForecast,
  WireForecastBar,
  WireForecastSchedule,
} from '../../core/schedule/forecast/views.ts'
import { hangingIndent } from '../terminal/hanging-indent.ts'
import { type Column, table } from '../terminal/table.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'

const DAY_MS = 86_400_000
/** Longer charts are drawn with one bar per week. */
const MOST_BARS = 75
const BAR_WIDTH = 40
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']
const NAMED = 3

/** A forecast as text: first the chart, then what stands out. */
export function drawForecast(terminal: Terminal, seen: WireForecast): string {
  if (seen.schedules.length === 0) {
    return 'Nothing is scheduled. Schedule something: punctual every "15 minutes" -- echo hello\n'
  }
  const { bars, step } = drawable(seen)
  return [
    ...headline(terminal, seen),
    '',
    ...draw(terminal, bars, step),
    '',
    table(SCHEDULES, seen.schedules, terminal.columns),
    ...(seen.more > 0 ? [`and ${counted(seen.more)} more; see them with -n`] : []),
    ...section(
      'Together at the same second',
      seen.collisions.flatMap((one) => describeCollision(terminal, one)),
    ),
    ...section(
      'Clocks change',
      seen.clock_changes.flatMap((one) => describeClockChange(terminal, one)),
    ),
    '',
  ].join('\n')
}

function headline(terminal: Terminal, seen: WireForecast): string[] {
  const days = Math.round((Date.parse(seen.until) - Date.parse(seen.from)) / DAY_MS)
  const count = seen.schedules.length + seen.more
  const span = days === 1 ? 'the next day' : `the next ${days} days`
  const [fullest] = seen.busiest
  const busy =
    fullest && fullest.busy > 0
      ? [`  fullest hour ${hour(fullest.at)}: ${runs(fullest.fires)}, ${slots(fullest.busy)} busy`]
      : []
  const part = seen.complete ? [] : ['  There are more schedules than one forecast can hold.']
  const title = `${runs(seen.fires)} of ${counted(count)} schedule${count === 1 ? '' : 's'} in ${span}`
  return [paint(terminal, 'bold', title), ...busy, ...part]
}

/** Bars that fit on a screen: a year of days becomes weeks. */
function drawable({ bars, bar_ms }: WireForecast): {
  bars: readonly WireForecastBar[]
  step: string
} {
  if (bar_ms < DAY_MS) return { bars, step: 'hour' }
  if (bars.length <= MOST_BARS) return { bars, step: 'day' }
  const weeks: WireForecastBar[] = []
  for (let start = 0; start < bars.length; start += 7) {
    const week = bars.slice(start, start + 7)
    weeks.push({
      at: (week[0] as WireForecastBar).at,
      fires: week.reduce((sum, { fires }) => sum + fires, 0),
      busy: Math.max(...week.map(({ busy }) => busy)),
    })
  }
  return { bars: weeks, step: 'week' }
}

function draw(terminal: Terminal, bars: readonly WireForecastBar[], step: string): string[] {
  const most = Math.max(1, ...bars.map(({ fires }) => fires))
  const width = Math.max(8, Math.min(BAR_WIDTH, terminal.columns - 40))
  const label = step === 'hour' ? hour : step === 'day' ? day : (at: string) => `week of ${day(at)}`
  const lines = bars.map(({ at, fires, busy }) => {
    const line = stroke((fires / most) * width).padEnd(width)
    const load = busy > 0 ? `  ${slots(busy)}` : ''
    return `  ${label(at)}  ${paint(terminal, 'blue', line)}  ${counted(fires)}${load}`.trimEnd()
  })
  return [paint(terminal, 'grey', `  by the ${step}, UTC: runs, and how many at once`), ...lines]
}

/** A bar in eighths of a column; a non-zero value is always visible. */
function stroke(columns: number): string {
  const eighths = columns === 0 ? 0 : Math.max(1, Math.round(columns * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] as string)
}

const SCHEDULES: readonly Column<WireForecastSchedule>[] = [
  { title: 'SCHEDULE', show: ({ job, schedule }) => `${job}/${schedule}`, shrinks: true },
  { title: 'FIRES', show: ({ fires }) => counted(fires) },
  { title: 'TAKES', show: ({ duration_ms: ms }) => (ms === null ? '?' : formatDuration(ms)) },
  { title: 'WHEN', show: ({ words }) => harmless(words), shrinks: true },
]

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines]
}

function describeCollision(
  terminal: Terminal,
  { at, times, schedules, names }: WireCollision,
): string[] {
  const rest = schedules - Math.min(NAMED, names.length)
  const who = [...names.slice(0, NAMED), ...(rest > 0 ? [`${counted(rest)} more`] : [])].join(', ')
  const often = times === 1 ? 'once' : `${counted(times)} times`
  return hangingIndent(terminal, `  ${counted(schedules)}  `, `${time(at)}, ${often}: ${who}`)
}

function describeClockChange(terminal: Terminal, one: WireClockNight): string[] {
  const effects = [
    [one.moved, 'fire after the change'],
    [one.left_out, 'are left out'],
    [one.once, 'fire once instead of twice'],
    [one.twice, 'fire twice'],
  ] as const
  const effectTexts = effects.flatMap(([count, what]) =>
    count > 0 ? [`${counted(count)} ${what}`] : [],
  )
  const what = effectTexts.length > 0 ? effectTexts.join(', ') : 'no schedule is affected'
  const jump = `${one.from_offset} to ${one.to_offset}`
  return hangingIndent(terminal, `  ${day(one.at)}  `, `${one.zone}, ${jump}: ${what}`)
}

function runs(count: number): string {
  return `${counted(count)} run${count === 1 ? '' : 's'}`
}

function slots(busy: number): string {
  const shown =
    busy >= 10 ? counted(Math.round(busy)) : String(Math.max(0.1, Math.round(busy * 10) / 10))
  return `${shown} slot${shown === '1' ? '' : 's'}`
}

function counted(count: number): string {
  return count.toLocaleString('en-US')
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

function day(at: string): string {
  return `${DAYS[new Date(at).getUTCDay()]} ${at.slice(0, 10)}`
}

function hour(at: string): string {
  return `${day(at)} ${at.slice(11, 16)}`
}

function time(at: string): string {
  return `${day(at)} ${at.slice(11, 19)} UTC`
}
