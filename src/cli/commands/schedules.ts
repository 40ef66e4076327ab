import type { Command } from 'commander'
import { LIMITS, NAME } from '../../core/limits.ts'
import type {
  WireNext,
  WireNextTimes,
  WirePreview,
  WireSchedule,
} from '../../core/schedule/definition/schedule-views.ts'
import { hangingIndent } from '../terminal/hanging-indent.ts'
import type { Cli } from './cli.ts'
import { skipRunStep, type SkipOptions } from './workflows.ts'
import { everyPage } from '../find/every-page.ts'
import { resolveSchedule, readTarget, schedulePath } from '../find/find-schedule.ts'
import { requireJob } from '../find/find-job.ts'
import { printList, printOne, type Show } from '../terminal/output.ts'
import { readCount } from '../args/read-count.ts'
import { ruleOf } from '../args/rule-text.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { clockTime, distance, instantIn } from '../render/show-time.ts'
import { table } from '../terminal/table.ts'
import { paint, type Terminal } from '../terminal/terminal.ts'
import { describeTriggers } from '../render/describe-triggers.ts'

const TARGET = 'JOB, or JOB/SCHEDULE if it has several'
const MAX_SCHEDULES = 10_000

/** Commands `schedules`, `next` and `skip`. */
export function schedulesCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  const schedules = program
    .command('schedules')
    .description('list schedules')
    .argument('[job]', 'only of this job')
    .action(async (job: string | undefined, _options: object, command: Command) => {
      const query = job === undefined ? '' : `job=${encodeURIComponent(job)}`
      const path = `/v1/schedules?${query}`
      const calls = cli.calls(command)
      const data = await everyPage<WireSchedule>(calls, path, MAX_SCHEDULES)
      if (data.length === 0 && job !== undefined) await requireJob(calls, job)
      printList(terminal, cli.format(command), data, schedulesOf(terminal, job))
    })

  schedules
    .command('rm')
    .description('delete a schedule; its history can still be read')
    .argument('<schedule>', TARGET)
    .action(async (text: string, _options: object, command: Command) => {
      const calls = cli.calls(command)
      const schedule = await resolveSchedule(calls, text)
      await calls.call('DELETE', schedulePath(schedule))
      const name = `${schedule.job}/${schedule.name}`
      const humanText = () => `the schedule ${name} is deleted\n`
      printOne(terminal, cli.format(command), { name, deleted: true }, { name, humanText })
    })

  program
    .command('next')
    .description('show the next times of all jobs, of one job, or of a rule that is not stored')
    .argument('[job]', "a job, or a rule such as 'weekdays at 09:05'")
    .option('-n, --count <count>', 'how many times', '5')
    .option('--zone <zone>', 'for a rule: its time zone; yours if absent')
    .action(async (what: string | undefined, options: NextOptions, command: Command) => {
      if (what !== undefined && !isName(what)) return preview(cli, command, what, options)
      const count = readCount(options.count, '--count')
      const { data, complete, starts } = await nextTimes(cli.calls(command), what, count)
      printList(terminal, cli.format(command), data, nextOf(terminal, what, starts))
      if (!complete) terminal.err(NOT_ALL)
    })

  program
    .command('skip')
    .description('skip the next time of a schedule, or a step of a run')
    .argument('<what>', `${TARGET}; or a run, such as @last`)
    .argument('[step]', 'the step of that run: it counts as done')
    .option('--item <number>', 'only this item of the step, counted from 0')
    .action(
      async (text: string, step: string | undefined, options: SkipOptions, command: Command) => {
        const calls = cli.calls(command)
        if (step !== undefined) return skipRunStep(cli, command, [text, step], options)
        const found = await resolveSchedule(calls, text)
        const schedule = await calls.call<WireSchedule>('POST', `${schedulePath(found)}/skip`)
        const name = `${schedule.job}/${schedule.name}`
        const humanText = () => describeSkip(schedule, terminal)
        printOne(terminal, cli.format(command), schedule, { name, humanText })
      },
    )
}

const NOT_ALL = 'There are too many schedules for one answer; others may fire earlier.\n'

interface NextOptions {
  readonly count: string
  readonly zone?: string
}

async function nextTimes(
  calls: ServerCalls,
  what: string | undefined,
  count: number,
): Promise<WireNextTimes & { readonly starts: readonly string[] }> {
  const { job, schedule } = what === undefined ? {} : readTarget(what)
  const limit = schedule === undefined ? Math.min(count, LIMITS.pageSize) : LIMITS.pageSize
  const query = new URLSearchParams({ limit: String(limit), ...(job && { job }) })
  const path = `/v1/schedules/next?${query.toString()}`
  const { data, complete } = await calls.call<WireNextTimes>('GET', path)
  const isEmpty = data.length === 0 && job !== undefined
  const found = isEmpty ? await requireJob(calls, job) : undefined
  const starts = found ? describeTriggers(found.definition) : []
  const wanted = data.filter((one) => schedule === undefined || one.schedule === schedule)
  return { data: wanted.slice(0, count), complete, starts }
}

/** Rules contain spaces or punctuation; any other text is a name. */
function isName(text: string): boolean {
  return text.split('/').length <= 2 && text.split('/').every((part) => NAME.test(part))
}

async function preview(
  cli: Cli,
  command: Command,
  rule: string,
  { count, zone = cli.terminal.zone }: NextOptions,
): Promise<void> {
  const { terminal } = cli
  const body = { ...ruleOf(rule), zone, count: readCount(count, '--count') }
  const shown = await cli.calls(command).call<WirePreview>('POST', '/v1/schedules/preview', body, {
    isRead: true,
  })
  const humanText = () => {
    const times = table(
      [
        { title: 'WHEN', show: ({ local }) => clockTime(local, terminal.now()) },
        { title: 'IN', show: ({ at }) => distance(at, terminal.now()) },
      ],
      shown.next,
      terminal.columns,
    )
    const changes = shown.clock_changes.filter(({ effect }) => effect !== 'none')
    const notes = changes.flatMap(({ sentence }) =>
      hangingIndent(terminal, '  clocks:  ', sentence),
    )
    return [paint(terminal, 'bold', shown.words), times, ...notes, ''].join('\n')
  }
  printOne(terminal, cli.format(command), shown, { name: shown.words, humanText })
}

const STATES = { active: 'on', paused: 'paused', ended: 'over', error: 'broken' } as const

function schedulesOf(terminal: Terminal, job: string | undefined): Show<WireSchedule> {
  const none = job === undefined ? 'No schedules yet.' : `The job ${job} has no schedules.`
  return {
    nameOf: ({ job: of, name }) => `${of}/${name}`,
    empty: `${none} Try: punctual every '15 minutes' ${job ?? '-- date'}`,
    columns: [
      { title: 'SCHEDULE', show: ({ job: of, name }) => `${of}/${name}`, shrinks: true },
      {
        title: 'STATE',
        show: ({ state }) => (state === 'active' ? 'on' : paint(terminal, 'yellow', STATES[state])),
      },
      { title: 'NEXT', show: (schedule) => timeOf(schedule, 'next', terminal) },
      {
        title: 'IN',
        show: ({ next }) =>
          next === null ? '-' : distance(next, terminal.now()).replace(/^in /, ''),
      },
      { title: 'WHEN', show: ({ words }) => words, shrinks: true },
    ],
  }
}

function nextOf(
  terminal: Terminal,
  what: string | undefined,
  starts: readonly string[],
): Show<WireNext> {
  const none = starts.length > 0 ? ` It runs ${starts.join(', and ')}.` : ''
  return {
    nameOf: ({ job, schedule }) => `${job}/${schedule}`,
    empty:
      what === undefined
        ? "No scheduled times. Try: punctual every '15 minutes' -- date"
        : `${what} has no scheduled times.${none || ` Its schedules: punctual schedules ${readTarget(what).job}`}`,
    columns: [
      { title: 'TIME', show: ({ local }) => clockTime(local, terminal.now()) },
      { title: 'IN', show: ({ at }) => distance(at, terminal.now()).replace(/^in /, '') },
      { title: 'SCHEDULE', show: ({ job, schedule }) => `${job}/${schedule}`, shrinks: true },
      { title: 'WHEN', show: ({ words }) => words, shrinks: true },
    ],
  }
}

function timeOf(schedule: WireSchedule, which: 'next' | 'skipping', terminal: Terminal): string {
  const { zone = 'UTC' } = schedule.definition
  const time = schedule[which]
  return time === null ? '-' : instantIn(time, zone, terminal.now())
}

function describeSkip(schedule: WireSchedule, terminal: Terminal): string {
  const fires = schedule.next === null ? '' : ` and fires ${timeOf(schedule, 'next', terminal)}`
  const skips = `skips ${timeOf(schedule, 'skipping', terminal)}${fires}`
  return `${hangingIndent(terminal, '', `${schedule.job}/${schedule.name} ${skips}`).join('\n')}\n`
}
