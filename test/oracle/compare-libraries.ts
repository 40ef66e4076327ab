// Where croner and cron-parser, installed in `bench`, differ from the oracle. With --write, updates
// docs/explanation/cron-libraries.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions } from '../support/read-options.ts'
import { caseOf, changesIn, type OracleCase } from './cases.ts'
import { oracleFires } from './compare.ts'
import { MALFORMED_EXPRESSIONS } from './malformed-expressions.ts'
import { readSimpleCron } from './simple-cron.ts'
import { firesOf, loadCronLibraries, punctual, type CronLibrary } from './cron-libraries.ts'
import type { Clocks } from './tzif.ts'
import type { Policy } from './walk.ts'
import { describeZones, readSystemZones } from './zone-files.ts'

const USAGE =
  'usage: node test/oracle/compare-libraries.ts [--write] [--peers DIR] [--cases N] [--seed N]'
const ROOT = join(import.meta.dirname, '../..')
const DOCUMENT = join(ROOT, 'docs/explanation/cron-libraries.md')
/** This program writes everything after this line. */
const MARK = '<!-- From here on: node test/oracle/compare-libraries.ts --write -->\n'
const HOUR = 3_600
const POLICIES = (['run-after', 'skip'] as const).flatMap((gap) =>
  (['first', 'both', 'last'] as const).map((repeat): Policy => ({ gap, repeat })),
)
const KINDS = [
  'days of the month and of the week',
  'no change of clocks near',
  'gap, hours are named',
  'gap, elapsed time',
  'repeated hour, hours are named',
  'repeated hour, elapsed time',
  'jump of less than an hour',
] as const
type Kind = (typeof KINDS)[number]
/** One fire a day for a hundred years: as many queries as a second allows, with a warm library. */
const MEASURED = [
  ['0 9 * * 1-5', 'UTC'],
  ['30 2 * * *', 'America/New_York'],
] as const

const { values } = readOptions(USAGE, {
  write: { type: 'boolean', default: false },
  peers: { type: 'string', default: join(ROOT, 'bench') },
  cases: { type: 'string', default: '5000' },
  seed: { type: 'string', default: '5' },
})
const libraries = [punctual, ...(await loadCronLibraries(values.peers))]
const zones = readSystemZones()
const reported: string[] = []
report(`${values.cases} rules, seed ${values.seed}; ${describeZones(zones)}.`)
const cases = Array.from({ length: Number(values.cases) }, (_, index) => narrowed(index))
const tables = libraries.map((rival) => compareLibrary(rival))

report(`\n| | rules | ${tables.map(({ name }) => name).join(' | ')} |`)
report(`|---|---|${tables.map(() => '---').join('|')}|`)
for (const kind of KINDS) {
  const count = cases.filter((one) => one.kind === kind).length
  report(`| ${kind} | ${count} | ${tables.map(({ wrong }) => wrong[kind]).join(' | ')} |`)
}
report(`| refused or failed | | ${tables.map(({ refused }) => refused).join(' | ')} |`)
report(`| policy it is nearest to | | ${tables.map(({ policy }) => policy).join(' | ')} |`)
for (const [cron, zone] of MEASURED) {
  const rates = libraries.map((rival) => rateOf(rival, cron, zone))
  report(`| \`next\` per second, \`${cron}\` in ${zone} | | ${rates.join(' | ')} |`)
}
const malformed = libraries.map((rival) => malformedOf(rival))
report(`| ${MALFORMED_EXPRESSIONS.length} malformed expressions | | ${malformed.join(' | ')} |`)
report('\n## What was refused\n')
for (const { name, reasons } of tables) report(`- ${name}: ${reasons || 'nothing'}`)
report('\n## Where they first part, one of each kind\n')
for (const { name, examples } of tables) for (const one of examples) report(`- ${name}: ${one}`)
if (values.write) {
  const [before = ''] = readFileSync(DOCUMENT, 'utf8').split(MARK)
  writeFileSync(DOCUMENT, `${before}${MARK}\n${reported.join('\n')}\n`)
}

function report(line: string): void {
  console.log(line)
  reported.push(line)
}

interface JudgedCase {
  readonly at: OracleCase
  readonly kind: Kind
}

/** Six hours around a change, or one with seconds: the relevant time, without waiting for slow libraries. */
function narrowed(index: number): JudgedCase {
  const at = caseOf(Number(values.seed), index, zones.clocks, (zone) => changesIn(clocksOf(zone)))
  const middle = (at.from + at.to) / 2
  const reach = (at.cron.split(' ').length === 6 ? 1 : 6) * HOUR
  const narrow = { ...at, from: middle - reach, to: middle + reach }
  return { at: narrow, kind: kindOf(narrow) }
}

function clocksOf(zone: string): Clocks {
  return zones.clocks.get(zone)!
}

function kindOf({ cron, zone, from, to }: OracleCase): Kind {
  const [date = '', , weekday = ''] = cron.split(' ').slice(-3)
  // Libraries differ in what the two fields mean together, independent of clock changes.
  if (!/^[*?]$/.test(date) && !/^[*?]$/.test(weekday)) return 'days of the month and of the week'
  const clocks = clocksOf(zone)
  const [change] = clocks.changes(from, to)
  if (change === undefined) return 'no change of clocks near'
  const jump = clocks.offsetAt(change) - clocks.offsetAt(change - 1)
  if (Math.abs(jump) < HOUR) return 'jump of less than an hour'
  const isElapsed = readSimpleCron(cron).starHours
  if (jump > 0) return isElapsed ? 'gap, elapsed time' : 'gap, hours are named'
  return isElapsed ? 'repeated hour, elapsed time' : 'repeated hour, hours are named'
}

/** A library cannot be told which policy to use, so it is compared with the policy closest to its answers. */
function compareLibrary(rival: CronLibrary) {
  const policies = rival === punctual ? POLICIES.slice(0, 1) : POLICIES
  const reasons = new Map<string, number>()
  const found = cases.map(({ at }) => attempt(rival, { ...at, dst: policies[0]! }, reasons))
  const results = policies.map((policy) => {
    const wrong = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>
    const examples = new Map<Kind, string>()
    for (const [index, { at, kind }] of cases.entries()) {
      const fires = found[index]
      if (!fires) continue
      const right = oracleFires({ ...at, dst: policy }, clocksOf(at.zone))
      if (fires.join() === right.join()) continue
      wrong[kind]++
      if (!examples.has(kind)) examples.set(kind, exampleOf(at, fires, right))
    }
    const total = KINDS.reduce((sum, kind) => sum + wrong[kind], 0)
    return {
      policy: `${policy.gap}, ${policy.repeat}`,
      wrong,
      total,
      examples: [...examples.values()],
    }
  })
  const best = results.toSorted((a, b) => a.total - b.total)[0]!
  const refused = found.filter((list) => list === undefined).length
  return { name: rival.name, ...best, refused, reasons: mostFrequent(reasons) }
}

function mostFrequent(reasons: ReadonlyMap<string, number>): string {
  return [...reasons]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 4)
    .map(([reason, count]) => `${reason} (${count})`)
    .join('; ')
}

function rateOf(rival: CronLibrary, cron: string, zone: string): string {
  const year = 366 * 86_400
  const from = Date.UTC(2026, 0, 1) / 1_000
  const began = performance.now()
  let fires = 0
  for (let years = 0; performance.now() - began < 1_000; years = (years + 1) % 100) {
    const start = from + years * year
    const span = { cron, zone, dst: POLICIES[0]!, from: start, to: start + year }
    fires += firesOf(rival, span).length
  }
  return Math.round((fires / (performance.now() - began)) * 1_000).toLocaleString('en-GB')
}

/** The first fire of each malformed expression, in a zone whose clocks change at midnight. */
function malformedOf(rival: CronLibrary): string {
  const after = Date.UTC(2026, 0, 1)
  let taken = 0
  let slowest = 0
  for (const cron of MALFORMED_EXPRESSIONS) {
    const began = performance.now()
    try {
      rival.open(cron, 'America/Santiago', after, POLICIES[0]!)(after)
      taken++
    } catch {
      // Refused, or no fire found: either is an answer.
    }
    slowest = Math.max(slowest, performance.now() - began)
  }
  return `${taken} taken, slowest ${slowest.toFixed(1)} ms`
}

function attempt(
  rival: CronLibrary,
  at: OracleCase,
  reasons: Map<string, number>,
): number[] | undefined {
  try {
    return firesOf(rival, at)
  } catch (error) {
    const reason = (error as Error).message.replaceAll(/'[^']*'|\d[\d#LW*/,-]*/g, '…').slice(0, 80)
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    return undefined
  }
}

/** The first difference. */
function exampleOf({ cron, zone }: OracleCase, found: number[], right: number[]): string {
  const index = right.findIndex((second, place) => second !== found[place])
  const at = index < 0 ? right.length : index
  const show = (second: number | undefined) =>
    second === undefined ? 'nothing' : new Date(second * 1_000).toISOString()
  return `\`${cron}\` in ${zone}: ${show(found[at])} instead of ${show(right[at])}`
}
