import type { Seeded } from '../sim/seeded.ts'

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const WEEKDAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ')

/** An expression built around a local time, so that it fires near clock changes. */
export function randomCron(chance: Seeded, local: Date, hasSeconds: boolean): string {
  const near = (value: number, size: number) => (value + chance.between(-1, 2) + size) % size
  const hour = () => (chance.chance(0.7) ? near(local.getUTCHours(), 24) : chance.int(24))
  const minute = () => (chance.chance(0.3) ? near(local.getUTCMinutes(), 60) : chance.int(60))
  const fields = [
    field(chance, minute, 0, 59),
    hourField(chance, hour),
    dateField(chance, local),
    chance.chance(0.8) ? '*' : monthField(chance, local),
    weekdayField(chance, local),
  ]
  return hasSeconds
    ? [field(chance, () => chance.int(60), 0, 59), ...fields].join(' ')
    : fields.join(' ')
}

function field(chance: Seeded, value: () => number, low: number, high: number): string {
  const items = chance.weighted({ 1: 8, 2: 2, 3: 1 })
  return Array.from({ length: Number(items) }, () => item(chance, value, low, high)).join(',')
}

function item(chance: Seeded, value: () => number, low: number, high: number): string {
  const step = () => chance.pick([2, 3, 5, 7, 10, 15, 20, 30].filter((one) => one <= high - low))
  switch (chance.weighted({ star: 2, stepped: 3, value: 6, range: 3, rangeStep: 2, open: 1 })) {
    case 'star':
      return '*'
    case 'stepped':
      return `*/${step()}`
    case 'value':
      return written(chance, value())
    case 'open': {
      const from = Math.min(value(), high - 10)
      return `${Math.max(low, from)}/${chance.between(1, 7)}`
    }
    case 'range':
    case 'rangeStep': {
      const [from, to] = [value(), value()].toSorted((a, b) => a - b) as [number, number]
      if (to - from < 2 || chance.chance(0.5)) return `${from}-${to}`
      return `${from}-${to}/${chance.between(1, Math.min(9, to - from))}`
    }
  }
}

/** Stars alone follow elapsed time, stars with other values do not: both must be frequent. */
function hourField(chance: Seeded, value: () => number): string {
  switch (chance.weighted({ star: 3, stepped: 3, stars: 1, mixed: 1, other: 8 })) {
    case 'star':
      return '*'
    case 'stepped':
      return `*/${chance.between(1, 12)}`
    case 'stars':
      return `*/${chance.between(2, 12)},*/${chance.between(2, 12)}`
    case 'mixed':
      return `${value()},*/${chance.between(2, 12)}`
    case 'other':
      return field(chance, value, 0, 23)
  }
}

function dateField(chance: Seeded, local: Date): string {
  const date = () => Math.min(31, Math.max(1, local.getUTCDate() + chance.between(-2, 2)))
  switch (chance.weighted({ star: 20, open: 1, stepped: 2, list: 4, working: 2, last: 2 })) {
    case 'star':
      return '*'
    case 'open':
      return '?'
    case 'stepped':
      return `*/${chance.between(1, 5)}`
    case 'list':
      return field(chance, date, 1, 31)
    case 'working':
      return chance.chance(0.2) ? 'LW' : `${date()}W`
    case 'last':
      return chance.chance(0.5) ? 'L' : `L-${chance.between(1, 9)}`
  }
}

function monthField(chance: Seeded, local: Date): string {
  const month = local.getUTCMonth()
  return chance.pick([
    MONTHS[month]!,
    MONTHS[month]!.toLowerCase(),
    String(month + 1),
    `${Math.max(1, month)}-${month + 1}`,
    '*/2',
    `1,${month + 1},12`,
  ])
}

function weekdayField(chance: Seeded, local: Date): string {
  const day = (local.getUTCDay() + chance.between(0, 1)) % 7
  const name = chance.chance(0.5) ? WEEKDAYS[day]! : String(day)
  switch (chance.weighted({ star: 20, open: 1, one: 3, range: 2, stepped: 1, nth: 3, last: 2 })) {
    case 'star':
      return '*'
    case 'open':
      return '?'
    case 'one':
      return day === 0 && chance.chance(0.5) ? '7' : name
    case 'range':
      return chance.pick(['MON-FRI', '1-5', 'SAT-SUN', '5-7', '0-3', `${day},3`, '0-6/2'])
    case 'stepped':
      return `*/${chance.between(1, 4)}`
    case 'nth':
      return `${name}#${chance.between(1, 5)}`
    case 'last':
      return `${name}L`
  }
}

function written(chance: Seeded, value: number): string {
  return chance.chance(0.1) ? String(value).padStart(2, '0') : String(value)
}
