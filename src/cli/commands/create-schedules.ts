import type { Command } from 'commander'
import type { WireSchedule } from '../../core/schedule/definition/schedule-views.ts'
import type { WireJob } from '../../core/job/job-views.ts'
import { hangingIndent } from '../terminal/hanging-indent.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { readTarget, schedulePath } from '../find/find-schedule.ts'
import { jobPath } from '../find/find-job.ts'
import { printJobWarnings } from '../job-files/job-warnings.ts'
import { quoteWords } from '../args/quote-words.ts'
import { printOne } from '../terminal/output.ts'
import { readJson } from '../args/read-json.ts'
import { readPair } from '../args/read-pairs.ts'
import { readFutureText, readWhenText } from '../args/read-when.ts'
import { ruleOf } from '../args/rule-text.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { distance, instantIn } from '../render/show-time.ts'
import { submitRun } from '../requests/submit-run.ts'
import { isSame } from '../job-files/store-job.ts'
import { harmless, type Terminal } from '../terminal/terminal.ts'
import { parseRunTarget } from '../args/parse-run-target.ts'
import { isHere } from '../server/server-address.ts'

interface EveryOptions {
  readonly zone?: string
  readonly job?: string
  readonly overlap?: string
  readonly missed?: string
  readonly jitter?: string
  readonly start?: string
  readonly end?: string
  readonly input?: string
  readonly priority?: string
  readonly deadline?: string
  readonly expect?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Commands `every` and `at`: create schedules and runs at a time. */
export function createScheduleCommands(program: Command, cli: Cli): void {
  everyCommand(program, cli)
  atCommand(program, cli)
}

function everyCommand(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('every')
    .description('run a job, or a command, on a schedule')
    .argument('<rule>', "such as '15 minutes', 'weekdays at 09:05' or '0 9 * * 1-5'")
    .argument('[what...]', 'a job, or JOB/NAME to name the schedule; after --, a command')
    .option('--job <name>', 'the name of the job that is created for a command')
    .option('--zone <zone>', 'the time zone, such as Europe/Athens; yours if absent')
    .option('--overlap <policy>', 'skip, queue(n), replace or allow, while one is running')
    .option('--missed <policy>', 'skip, latest or all, for times missed during downtime')
    .option('--jitter <duration>', 'start with a random delay of up to this long')
    .option('--start <time>', 'not before')
    .option('--end <time>', 'not after')
    .option('--deadline <when>', 'when it should have ended: 30m after its time, or 05:30')
    .option('--expect <name=value>', 'start=30s, duration=20m or 2x, output=true', readPair)
    .option('-i, --input <json>', 'the input of its runs')
    .option('--priority <number>', 'from -10 to 10, higher first')
    .option(
      '--cwd <directory>',
      'the directory to start in; this one, if the server is on this machine',
    )
    .action(async (rule: string, what: string[], options: EveryOptions, command: Command) => {
      const calls = cli.calls(command)
      const definition = { ...ruleOf(rule), ...(await scheduleOptions(options, cli)) }
      const schedule = cli.hasDashes
        ? await forCommand(calls, cli, what, definition, options)
        : await forJob(calls, cli, whichJob(rule, what), definition)
      const name = `${schedule.job}/${schedule.name}`
      const humanText = () => describe(schedule, terminal)
      printOne(terminal, cli.format(command), schedule, { name, humanText })
      if (terminal.isInteractive) terminal.err(`  undo:  punctual schedules rm ${name}\n`)
    })
}

function atCommand(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('at')
    .description('run a job, or a command, once, at a future time')
    .argument('<when>', "such as 'tomorrow 09:00', 'in 2 hours' or 2027-01-01T09:00")
    .argument('[what...]', 'a job that is defined; after --, a command')
    .option('--zone <zone>', 'the time zone, such as Europe/Athens; yours if absent')
    .option('-i, --input <json>', 'the input of the run')
    .option('--priority <number>', 'from -10 to 10, higher first')
    .option('--key <text>', 'an idempotency key: the same key returns the same run')
    .option(
      '--cwd <directory>',
      'the directory to start in; this one, if the server is on this machine',
    )
    .action(
      async (
        when: string,
        [first, ...rest]: string[],
        options: EveryOptions & { key?: string },
        command: Command,
      ) => {
        const calls = cli.calls(command)
        const zone = options.zone ?? terminal.zone
        const now = terminal.now()
        const run_at = await readFutureText(when, { now: terminal.now, zone }, 'when')
        const id = await submitRun(calls, {
          ...parseRunTarget(first, rest, cli.hasDashes, { before: ['at', when] }),
          ...(cli.hasDashes ? whereOf(calls, cli, options) : {}),
          ...common(options),
          ...(options.key === undefined ? {} : { idempotency_key: options.key }),
          run_at,
        })
        const time = `${instantIn(run_at, zone, now)} (${distance(run_at, now)})`
        const humanText = () => `${id}  ${time}\n`
        printOne(terminal, cli.format(command), { id, run_at }, { name: id, humanText })
        if (terminal.isInteractive) terminal.err(`  undo:  punctual cancel ${id}\n`)
      },
    )
}

function whichJob(rule: string, what: readonly string[]): string {
  const [first, ...rest] = what
  if (first !== undefined && rest.length === 0) return first
  const words = first === undefined ? ['COMMAND'] : what
  throw new Failure(first === undefined ? 'name a job' : `"${rest[0]}" is one word too many`, {
    exitCode: EXIT.usage,
    hint: 'To run a command, put -- before it.',
    next: `punctual ${quoteWords(['every', rule, '--', ...words])}`,
  })
}

/**
 * Changes the schedule with the same time, if there is one, so that repeating a command creates no
 * second one.
 */
async function forJob(
  calls: ServerCalls,
  { terminal }: Cli,
  text: string,
  definition: object,
): Promise<WireSchedule> {
  const { job, schedule: named } = readTarget(text)
  const { schedules = [] } = await calls.call<WireJob>('GET', jobPath(job))
  if (named !== undefined) {
    const path = schedulePath({ job, name: named })
    const made = await calls.call<WireSchedule>('PUT', path, definition)
    const before = schedules.find(({ name }) => name === named)
    if (before && before.words !== made.words) terminal.err(replacedNote(before))
    return made
  }
  const preview = await calls.call<{ words: string }>('POST', '/v1/schedules/preview', definition, {
    isRead: true,
  })
  const same = schedules.find(({ words }) => words === preview.words)
  const name = same?.name ?? freeName(schedules)
  return calls.call('PUT', schedulePath({ job, name }), definition)
}

/** Names are easily typed twice, so the replaced rule is printed: the user can restore it. */
function replacedNote({ job, name, words, declared }: WireSchedule): string {
  const back = 'as the definition of the job declares it; its next version restores that'
  return `note: ${harmless(`${job}/${name} was ${words}`)}${declared ? `, ${back}` : ''}\n`
}

/** Not a number: unnamed schedules of a definition get their position as a name. */
function freeName(schedules: readonly WireSchedule[]): string {
  const taken = new Set(schedules.map(({ name }) => name))
  let number = 1
  while (taken.has(`every-${number}`)) number += 1
  return `every-${number}`
}

/**
 * Creates a job for a command, named after its program unless a name is given. The definition of the job does not
 * declare the schedule, so that a job file applied later leaves it alone.
 */
async function forCommand(
  calls: ServerCalls,
  cli: Cli,
  argv: readonly string[],
  definition: object,
  options: EveryOptions,
): Promise<WireSchedule> {
  const job = options.job ?? nameFor(argv[0] ?? '')
  const command = { argv, ...whereOf(calls, cli, options) }
  const headers = { 'if-none-match': '*' }
  // A rule that is refused must not leave a job without a schedule behind.
  await calls.call('POST', '/v1/schedules/preview', definition, { isRead: true })
  try {
    const made = await calls.call<WireJob>('PUT', jobPath(job), command, { headers })
    printJobWarnings(cli.terminal, made)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'job_exists') throw error
    if (await isJobOf(calls, job, command)) return forJob(calls, cli, job, definition)
    throw new Failure(error.message, {
      exitCode: EXIT.conflict,
      code: error.code,
      hint: `Choose another name with --job, or schedule the existing job: punctual every RULE ${job}`,
      problem: error.problem,
    })
  }
  return calls.call('PUT', schedulePath({ job, name: freeName([]) }), definition)
}

/** Whether a job runs exactly this command; then repeating `every` changes its schedules. */
async function isJobOf(calls: ServerCalls, name: string, command: object): Promise<boolean> {
  const { definition } = await calls.call<WireJob>('GET', jobPath(name))
  const { schedule: _, ...rest } = definition
  return isSame(rest, command)
}

/** `/opt/bin/nightly-etl.sh` is `nightly-etl.sh`. */
function nameFor(program: string): string {
  const last = program.split('/').at(-1) ?? ''
  return last.replaceAll(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+/, '') || 'adhoc'
}

/** Directories of this machine are meaningful only to workers on this machine. */
function whereOf(calls: ServerCalls, { terminal }: Cli, { cwd }: EveryOptions): object {
  const where = cwd ?? (isHere(calls.url) ? terminal.cwd : undefined)
  return where === undefined ? {} : { cwd: where }
}

function common({ input, priority }: EveryOptions): object {
  return {
    ...(input === undefined ? {} : { input: readJson(input, 'the input', '-i') }),
    ...(priority === undefined ? {} : { priority: Number(priority) }),
  }
}

async function scheduleOptions(options: EveryOptions, { terminal }: Cli): Promise<object> {
  const { overlap, missed, jitter, deadline } = options
  const expect = options.expect && expectOf(options.expect)
  const zone = options.zone ?? terminal.zone
  const timeOf = async (text: string | undefined, flag: string) =>
    text && (await readWhenText(text, { now: terminal.now, zone }, flag))
  const start = await timeOf(options.start, '--start')
  const end = await timeOf(options.end, '--end')
  const fields = { zone, overlap, missed, jitter, start, end, deadline, expect }
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(given), ...common(options) }
}

/** The server validates the rest. */
function expectOf({ output, ...rest }: Readonly<Record<string, string>>): object {
  if (output === undefined) return rest
  return { ...rest, output: output === 'true' || (output === 'false' ? false : output) }
}

function describe(schedule: WireSchedule, terminal: Terminal): string {
  const { job, name, words, next, definition } = schedule
  const now = terminal.now()
  const when =
    next === null
      ? 'not before it is resumed'
      : `${instantIn(next, definition.zone ?? 'UTC', now)} (${distance(next, now)})`
  const lines = [...hangingIndent(terminal, '', `${job}/${name}  ${words}`), `  next  ${when}`]
  return `${lines.join('\n')}\n`
}
