import { type Command, Option } from 'commander'
import type { WireBackfill, WireBackfillPlan } from '../../core/schedule/backfill/views.ts'
import type { WirePage } from '../../core/wire/views.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { resolveSchedule, schedulePath } from '../find/find-schedule.ts'
import { printList, printOne, type Show } from '../terminal/output.ts'
import { readCount } from '../args/read-count.ts'
import { pastReader, readWhenText } from '../args/read-when.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { instantIn } from '../render/show-time.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { REMINDER_MS } from '../watch/wait-report.ts'

interface BackfillOptions {
  readonly from?: string
  readonly until?: string
  readonly to?: string
  readonly reverse?: true
  readonly only?: string
  readonly maxParallel?: string
  readonly perMinute?: string
  readonly priority?: string
  readonly dryRun?: true
  readonly wait?: true
}

const POLL_MS = 1_000

/** Commands `backfill`, `backfill ls`, `show` and `cancel`: create runs for past times. */
export function backfillCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  const backfill = program
    .command('backfill')
    .description('create runs for past times of a schedule')
    .argument('<schedule>', 'JOB, or JOB/SCHEDULE if it has several')
    .option('--from <time>', "the first time: 'yesterday 00:00', 2026-11-18, 24h for a day ago")
    .option('--until <time>', 'the last one; now if absent')
    .addOption(new Option('--to <time>', 'the same as --until').conflicts('until'))
    .option('--reverse', 'newest first')
    .option('--only <which>', 'missing, failed or all', 'missing')
    .option('--max-parallel <count>', 'how many of its runs may run at once', '1')
    .option('--per-minute <count>', 'how many of its runs may start per minute')
    .option('--priority <number>', 'from -10 to 10; -5 if absent, after runs that are due now')
    .option('--dry-run', 'only print what would be done')
    .option('--wait', 'wait until it has finished')
    .action(async (text: string, options: BackfillOptions, command: Command) => {
      const calls = cli.calls(command)
      const schedule = await resolveSchedule(calls, text)
      const path = `${schedulePath(schedule)}/backfill`
      const body = await requestOf(options, terminal)
      if (options.dryRun) {
        const plan = await calls.call<WireBackfillPlan>(
          'POST',
          path,
          { ...body, dry_run: true },
          {
            isRead: true,
          },
        )
        const humanText = () => describePlan(terminal, plan)
        printOne(terminal, cli.format(command), plan, { name: String(plan.runs), humanText })
        return
      }
      const started = await calls.call<WireBackfill>('POST', path, body)
      const shown = options.wait ? await untilOver(calls, started, terminal) : started
      print(cli, command, shown)
      if (shown.state === 'failed') cli.exitWith(EXIT.runFailed)
    })

  backfill
    .command('ls')
    .description('list backfills, newest first')
    .action(async (_options: object, command: Command) => {
      const { data } = await cli
        .calls(command)
        .call<WirePage<WireBackfill>>('GET', '/v1/backfills?limit=500')
      printList(terminal, cli.format(command), data, BACKFILLS)
    })

  for (const verb of ['show', 'cancel'] as const) {
    backfill
      .command(verb)
      .description(verb === 'show' ? 'show the progress of a backfill' : 'stop creating runs')
      .argument('<id>', 'bkf_…')
      .action(async (id: string, _options: object, command: Command) => {
        const path = `/v1/backfills/${encodeURIComponent(id)}`
        const calls = cli.calls(command)
        const shown =
          verb === 'show'
            ? await calls.call<WireBackfill>('GET', path)
            : await calls.call<WireBackfill>('POST', `${path}/cancel`)
        print(cli, command, shown)
      })
  }
}

async function requestOf(options: BackfillOptions, terminal: Terminal): Promise<object> {
  const { from, to, until = to, only, maxParallel, perMinute, priority } = options
  const flag = to === undefined ? '--until' : '--to'
  if (from === undefined) {
    const hint = "Say since when: --from 'yesterday 00:00'."
    throw new Failure('a backfill needs --from', { exitCode: EXIT.usage, hint })
  }
  return {
    from: await readWhenText(from, pastReader(terminal), '--from'),
    ...(until === undefined
      ? {}
      : { until: await readWhenText(until, pastReader(terminal), flag) }),
    order: options.reverse ? 'reverse' : 'forward',
    which: only,
    max_parallel: readCount(maxParallel ?? '1', '--max-parallel'),
    ...(perMinute === undefined ? {} : { per_minute: readCount(perMinute, '--per-minute') }),
    ...(priority === undefined ? {} : { priority: Number(priority) }),
  }
}

async function untilOver(
  calls: ServerCalls,
  started: WireBackfill,
  terminal: Terminal,
): Promise<WireBackfill> {
  let seen = started
  let reportedMono = terminal.mono()
  while (seen.state === 'running') {
    await terminal.sleep(POLL_MS)
    seen = await calls.call<WireBackfill>('GET', `/v1/backfills/${started.id}`)
    if (seen.state !== 'running' || terminal.mono() - reportedMono < REMINDER_MS) continue
    terminal.err(`${seen.id}  ${progressOf(seen)}\n`)
    reportedMono = terminal.mono()
  }
  return seen
}

function progressOf({ made, passed, times, open }: WireBackfill): string {
  return `${made} made, ${passed} needed none, of ${times}; ${open} under way`
}

function print({ terminal, format }: Cli, command: Command, one: WireBackfill): void {
  const humanText = () =>
    [
      `${one.id}  ${one.job}/${one.schedule}  ${one.state}`,
      `  ${one.which}, ${one.order}: ${one.from} to ${one.until}`,
      `  ${progressOf(one)}`,
      ...(one.error === null ? [] : [`  ${one.error}`]),
      '',
    ].join('\n')
  printOne(terminal, format(command), one, { name: one.id, humanText })
}

function describePlan(terminal: Terminal, plan: WireBackfillPlan): string {
  const { runs, times, first, which, job, schedule } = plan
  const shown = first.slice(0, 10).map((at) => `  ${instantIn(at, terminal.zone, terminal.now())}`)
  const more = runs > shown.length ? [`  and ${runs - shown.length} more`] : []
  const title = `${runs} of ${times} times of ${job}/${schedule} would become runs (${which})`
  return [title, ...shown, ...more, ''].join('\n')
}

/** `2026-01-31 09:00`: the list omits details that `backfill show` prints. */
function minuteOf(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}

const BACKFILLS: Show<WireBackfill> = {
  nameOf: ({ id }) => id,
  empty: 'No backfills. Start one: punctual backfill JOB --from yesterday --dry-run',
  columns: [
    { title: 'BACKFILL', show: ({ id }) => id },
    { title: 'SCHEDULE', show: ({ job, schedule }) => `${job}/${schedule}`, shrinks: true },
    { title: 'STATE', show: ({ state }) => state },
    { title: 'MADE', show: ({ made, times }) => `${made}/${times}` },
    { title: 'FROM (UTC)', show: ({ from }) => minuteOf(from) },
    { title: 'UNTIL', show: ({ until }) => minuteOf(until), dropOrder: 1 },
  ],
}
