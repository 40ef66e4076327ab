import type { Command } from 'commander'
import { parseDuration } from '../../core/text/duration.ts'
import type { WireAway, WireAwaySchedule } from '../../core/schedule/definition/schedule-views.ts'
import type { WireJob } from '../../core/wire/views.ts'
import { beside } from '../terminal/hanging-indent.ts'
import type { Cli } from './cli.ts'
import { findSchedules, jobPath } from '../find/find-schedule.ts'
import { followUpTable } from '../render/follow-up-table.ts'
import { latestTimes, timesIn } from '../find/latest-times.ts'
import { occurrenceTable, REASONS, type Told } from '../render/occurrence-table.ts'
import { printList, printOne } from '../terminal/output.ts'
import { readCount } from '../args/read-count.ts'
import { readWhen } from '../args/read-when.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { instantIn } from '../render/show-time.ts'
import { table } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { followsOthers } from '../render/describe-triggers.ts'

interface RangeOptions {
  readonly since: string
  readonly until?: string
  readonly limit: string
}

/** history, away: what became of times. */
export function historyCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('history')
    .description(
      'show the times of a schedule, planned and actual, or the ends a job runs after, and what became of each',
    )
    .argument('<schedule>', 'JOB, or JOB/SCHEDULE for one of several')
    .option('--since <time>', 'from when on: 24h for a day ago, or a time', '24h')
    .option('--until <time>', 'until when; now and the few times to come if absent')
    .option('-n, --limit <count>', 'the last so many', '20')
    .action(async (text: string, options: RangeOptions, command: Command) => {
      const calls = cli.calls(command)
      const follower = await findFollower(calls, text)
      if (follower) {
        const { follow_ups: ends = [] } = follower
        return printList(terminal, cli.format(command), ends, followUpTable(terminal, follower))
      }
      const schedules = await findSchedules(calls, text)
      const now = terminal.now()
      const from = await timeBefore(options.since, terminal, '--since')
      const until = options.until && (await readWhen(options.until, terminal, '--until'))
      const most = readCount(options.limit, '--limit')
      const told: Told[] = []
      for (const schedule of schedules) {
        const past = await latestTimes(calls, schedule, { from, until: until || now, most })
        const soon = { from: now + 1, until: now + YEAR_MS, most: FEW }
        const next = until ? [] : await timesIn(calls, schedule, soon)
        told.push(...[...past, ...next].map((one) => ({ schedule: schedule.name, ...one })))
      }
      told.sort((a, b) => (a.nominal_at < b.nominal_at ? -1 : 1))
      printList(terminal, cli.format(command), told, occurrenceTable(terminal, schedules, told))
    })

  program
    .command('away')
    .description('sum up what did not simply fire while you were away')
    .option('--since <time>', 'since when: 24h for a day ago, or a time', '24h')
    .action(async ({ since }: { since: string }, command: Command) => {
      const query = new URLSearchParams({
        since: new Date(await timeBefore(since, terminal, '--since')).toISOString(),
      })
      const path = `/v1/away?${query.toString()}`
      const away = await cli.calls(command).call<WireAway>('GET', path)
      const people = () => describeAway(away, terminal)
      printOne(terminal, cli.format(command), away, { name: String(away.schedules.length), people })
    })
}

/** The job, if nothing but the ends of others makes it run. */
async function findFollower(calls: ServerCalls, text: string): Promise<WireJob | undefined> {
  if (text.includes('/')) return undefined
  const job = await calls.call<WireJob>('GET', jobPath(text))
  const isTimed = (job.schedules ?? []).length > 0
  return !isTimed && followsOthers(job.definition) ? job : undefined
}

const YEAR_MS = 366 * 86_400_000
/** Of those to come. */
const FEW = 3

/** `24h` is a day ago; anything else is a time. */
async function timeBefore(text: string, terminal: Terminal, flag: string): Promise<number> {
  const isLong = /^\d+(?:\.\d+)?[a-z]/.test(text)
  return isLong ? terminal.now() - parseDuration(text, flag) : readWhen(text, terminal, flag)
}

function describeAway({ since, schedules, complete }: WireAway, terminal: Terminal): string {
  const from = instantIn(since, terminal.zone, terminal.now())
  if (schedules.length === 0) return `All that was to fire since ${from} did, in time.\n`
  const sum = (field: 'missed' | 'made_up' | 'merged' | 'skipped' | 'late') =>
    schedules.reduce((total, one) => total + one[field], 0)
  const verdict =
    `Since ${from}: ${sum('missed')} missed, ${sum('made_up')} made up for, ` +
    `${sum('skipped')} skipped, ${sum('merged')} merged, ${sum('late')} late.`
  const rest = complete ? [] : ['There was more than this; it is about the latest part.']
  const said = beside(terminal, '', verdict)
  return [...said, table(AWAY, schedules, terminal.columns), ...rest, ''].join('\n')
}

const count = (field: 'missed' | 'made_up' | 'skipped' | 'merged' | 'late') => ({
  title: field.toUpperCase().replace('_', ' '),
  show: (one: WireAwaySchedule) => String(one[field]),
})

const AWAY = [
  {
    title: 'SCHEDULE',
    show: ({ job, name, id }: WireAwaySchedule) => (job === null ? id : `${job}/${name}`),
    gives: true,
  },
  ...(['missed', 'made_up', 'skipped', 'merged', 'late'] as const).map(count),
  {
    title: 'WHY',
    show: ({ reasons }: WireAwaySchedule) =>
      Object.keys(reasons)
        .map((reason) => REASONS[reason as keyof typeof REASONS])
        .join(', '),
    gives: true,
  },
]
