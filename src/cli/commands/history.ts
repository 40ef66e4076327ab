import type { Command } from 'commander'
import type { WireAway, WireAwaySchedule } from '../../core/schedule/definition/schedule-views.ts'
import type { WireJob } from '../../core/job/job-views.ts'
import { hangingIndent } from '../terminal/hanging-indent.ts'
import type { Cli } from './cli.ts'
import { resolveSchedules } from '../find/find-schedule.ts'
import { jobPath } from '../find/find-job.ts'
import { followUpTable } from '../render/follow-up-table.ts'
import { latestTimes, timesIn } from '../find/latest-times.ts'
import { occurrenceTable, REASONS, type OccurrenceRow } from '../render/occurrence-table.ts'
import { printList, printOne } from '../terminal/output.ts'
import { readCount } from '../args/read-count.ts'
import { pastReader, readTimeFlag, readWhenText } from '../args/read-when.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { instantIn } from '../render/show-time.ts'
import { table } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { runsAfterOthers } from '../render/describe-triggers.ts'

interface RangeOptions {
  readonly since: string
  readonly until?: string
  readonly limit: string
}

/** Commands `history` and `away`: what became of scheduled times. */
export function historyCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('history')
    .description(
      'show planned and actual times of a schedule, or the completions that trigger a job, and their outcomes',
    )
    .argument('<schedule>', 'JOB, or JOB/SCHEDULE for one of several')
    .option(
      '--since <time>',
      `from when on: 24h for a day ago, 'yesterday 00:00', or another time`,
      '24h',
    )
    .option('--until <time>', 'until when; if absent, now and the next few times')
    .option('-n, --limit <count>', 'how many, counted from the end', '20')
    .action(async (text: string, options: RangeOptions, command: Command) => {
      const calls = cli.calls(command)
      const follower = await findTriggeredJob(calls, text)
      if (follower) {
        const { follow_ups: ends = [] } = follower
        return printList(terminal, cli.format(command), ends, followUpTable(terminal, follower))
      }
      const schedules = await resolveSchedules(calls, text)
      const now = terminal.now()
      const from = await readTimeFlag(options.since, pastReader(terminal), '--since')
      const until =
        options.until && (await readTimeFlag(options.until, pastReader(terminal), '--until'))
      const most = readCount(options.limit, '--limit')
      const rows: OccurrenceRow[] = []
      for (const schedule of schedules) {
        const past = await latestTimes(calls, schedule, { from, until: until || now, most })
        const soon = { from: now + 1, until: now + YEAR_MS, most: FEW }
        const next = until ? [] : await timesIn(calls, schedule, soon)
        rows.push(...[...past, ...next].map((one) => ({ schedule: schedule.name, ...one })))
      }
      rows.sort((a, b) => (a.nominal_at < b.nominal_at ? -1 : 1))
      printList(terminal, cli.format(command), rows, occurrenceTable(terminal, schedules, rows))
    })

  program
    .command('away')
    .description('summarize scheduled times that did not start on time')
    .option(
      '--since <time>',
      `since when: 24h for a day ago, 'yesterday 00:00', or another time`,
      '24h',
    )
    .action(async ({ since }: { since: string }, command: Command) => {
      const query = new URLSearchParams({
        since: await readWhenText(since, pastReader(terminal), '--since'),
      })
      const path = `/v1/away?${query.toString()}`
      const away = await cli.calls(command).call<WireAway>('GET', path)
      const humanText = () => describeAway(away, terminal)
      printOne(terminal, cli.format(command), away, {
        name: String(away.schedules.length),
        humanText,
      })
    })
}

/** The job, if only the completion of other jobs makes it run. */
async function findTriggeredJob(calls: ServerCalls, text: string): Promise<WireJob | undefined> {
  if (text.includes('/')) return undefined
  const job = await calls.call<WireJob>('GET', jobPath(text))
  const isTimed = (job.schedules ?? []).length > 0
  return !isTimed && runsAfterOthers(job.definition) ? job : undefined
}

const YEAR_MS = 366 * 86_400_000
/** The number of future times to show. */
const FEW = 3

function describeAway({ since, schedules, complete }: WireAway, terminal: Terminal): string {
  const from = instantIn(since, terminal.zone, terminal.now())
  if (schedules.length === 0) return `All scheduled times since ${from} started on time.\n`
  const sum = (field: 'missed' | 'made_up' | 'merged' | 'skipped' | 'late') =>
    schedules.reduce((total, one) => total + one[field], 0)
  const verdict =
    `Since ${from}: ${sum('missed')} missed, ${sum('made_up')} caught up, ` +
    `${sum('skipped')} skipped, ${sum('merged')} merged, ${sum('late')} late.`
  const rest = complete
    ? []
    : ['There were more times than one summary covers: these are the latest.']
  const heading = hangingIndent(terminal, '', verdict)
  return [...heading, table(AWAY, schedules, terminal.columns), ...rest, ''].join('\n')
}

const count = (title: string, field: 'missed' | 'made_up' | 'skipped' | 'merged' | 'late') => ({
  title,
  show: (one: WireAwaySchedule) => String(one[field]),
})

const AWAY = [
  {
    title: 'SCHEDULE',
    show: ({ job, name, id }: WireAwaySchedule) => (job === null ? id : `${job}/${name}`),
    shrinks: true,
  },
  count('MISSED', 'missed'),
  count('CAUGHT UP', 'made_up'),
  count('SKIPPED', 'skipped'),
  count('MERGED', 'merged'),
  count('LATE', 'late'),
  {
    title: 'WHY',
    show: ({ reasons }: WireAwaySchedule) =>
      Object.keys(reasons)
        .map((reason) => REASONS[reason as keyof typeof REASONS])
        .join(', '),
    shrinks: true,
  },
]
