import type { Command } from 'commander'
import type { SubmitAnswer } from '../../core/wire/protocol.ts'
import type { WireSchedule } from '../../core/schedule/definition/schedule-views.ts'
import type { WireJob } from '../../core/wire/views.ts'
import { beside } from '../terminal/hanging-indent.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath, readTarget, schedulePath } from '../find/find-schedule.ts'
import { printOne } from '../terminal/output.ts'
import { readJson } from '../args/read-json.ts'
import { readPair } from '../args/read-pairs.ts'
import { readWhen } from '../args/read-when.ts'
import { ruleOf } from '../args/rule-text.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { distance, instantIn } from '../render/show-time.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { whatToRun } from '../args/parse-run-target.ts'
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

/** every, at: what is to happen by itself. */
export function schedulingCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('every')
    .description('run a job, or a command, again and again')
    .argument('<rule>', "such as '15 minutes', 'weekdays at 09:05' or '0 9 * * 1-5'")
    .argument('[what...]', 'a job, or JOB/NAME to name the schedule; after --, a command')
    .option('--job <name>', 'what to call the job that is made for a command')
    .option('--zone <zone>', 'on whose clocks, such as Europe/Athens; yours if absent')
    .option('--overlap <policy>', 'skip, queue(n), replace or allow, while one is running')
    .option('--missed <policy>', 'skip, latest or all, when nobody was there')
    .option('--jitter <duration>', 'up to so much later')
    .option('--start <time>', 'not before')
    .option('--end <time>', 'not after')
    .option('--deadline <when>', 'by when it should have ended: 30m after its time, or 05:30')
    .option('--expect <name=value>', 'start=30s, duration=20m or 2x, output=true', readPair)
    .option('-i, --input <json>', 'what runs get as their input')
    .option('--priority <number>', 'from -10 to 10, higher first')
    .option('--cwd <directory>', 'where the command starts; here, if the server is on this machine')
    .action(async (rule: string, what: string[], options: EveryOptions, command: Command) => {
      const calls = cli.calls(command)
      const definition = { ...ruleOf(rule), ...(await wishes(options, cli)) }
      const schedule = cli.hasDashes
        ? await forCommand(calls, cli, what, definition, options)
        : await forJob(calls, whichJob(what), definition)
      const name = `${schedule.job}/${schedule.name}`
      const people = () => describe(schedule, terminal)
      printOne(terminal, cli.format(command), schedule, { name, people })
      if (terminal.isInteractive) terminal.err(`  undo:  punctual schedules rm ${name}\n`)
    })

  program
    .command('at')
    .description('run a job, or a command, once, at a time to come')
    .argument('<when>', "such as 'tomorrow 09:00', 'in 2 hours' or 2027-01-01T09:00")
    .argument('[what...]', 'a job that is defined; after --, a command')
    .option('--zone <zone>', 'on whose clocks, such as Europe/Athens; yours if absent')
    .option('-i, --input <json>', 'what it gets as its input')
    .option('--priority <number>', 'from -10 to 10, higher first')
    .option('--key <text>', 'the same key, the same run: for scripts that may repeat themselves')
    .option('--cwd <directory>', 'where the command starts; here, if the server is on this machine')
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
        const at = await readWhen(when, { now: terminal.now, zone }, 'when')
        if (at <= now) throw over(when)
        const run_at = new Date(at).toISOString()
        const { id } = await calls.call<SubmitAnswer>('POST', '/v1/runs', {
          ...whatToRun(first, rest, cli.hasDashes, {}),
          ...(cli.hasDashes ? whereOf(calls, cli, options) : {}),
          ...common(options),
          ...(options.key === undefined ? {} : { idempotency_key: options.key }),
          run_at,
        })
        const time = `${instantIn(run_at, zone, now)} (${distance(run_at, now)})`
        const people = () => `${id}  ${time}\n`
        printOne(terminal, cli.format(command), { id, run_at }, { name: id, people })
        if (terminal.isInteractive) terminal.err(`  undo:  punctual cancel ${id}\n`)
      },
    )
}

function whichJob([first, ...rest]: readonly string[]): string {
  if (first !== undefined && rest.length === 0) return first
  const words = [first ?? 'COMMAND', ...rest].join(' ')
  throw new Failure(first === undefined ? 'name a job' : `"${rest[0]}" is one word too many`, {
    exitCode: EXIT.usage,
    hint: `To run a command, put -- before it: punctual every RULE -- ${words}`,
  })
}

/** A schedule that says the same time is changed, so that whoever repeats a command has one. */
async function forJob(calls: ServerCalls, text: string, definition: object): Promise<WireSchedule> {
  const { job, schedule: named } = readTarget(text)
  const { schedules = [] } = await calls.call<WireJob>('GET', jobPath(job))
  if (named !== undefined) return calls.call('PUT', schedulePath({ job, name: named }), definition)
  const preview = await calls.call<{ words: string }>('POST', '/v1/schedules/preview', definition)
  const same = schedules.find(({ words }) => words === preview.words)
  const name = same?.name ?? freeName(schedules)
  return calls.call('PUT', schedulePath({ job, name }), definition)
}

function freeName(schedules: readonly WireSchedule[]): string {
  const taken = new Set(schedules.map(({ name }) => name))
  let number = 1
  while (taken.has(String(number))) number += 1
  return String(number)
}

/** The job of a command is called like its program, unless somebody has a better name. */
async function forCommand(
  calls: ServerCalls,
  cli: Cli,
  argv: readonly string[],
  definition: object,
  options: EveryOptions,
): Promise<WireSchedule> {
  const job = options.job ?? nameFor(argv[0] ?? '')
  const body = { argv, ...whereOf(calls, cli, options), schedule: definition }
  const headers = { 'if-none-match': '*' }
  try {
    const made = await calls.call<WireJob>('PUT', jobPath(job), body, { headers })
    return made.schedules?.[0] as WireSchedule
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'job_exists') throw error
    throw new Failure(error.message, {
      exitCode: EXIT.conflict,
      code: error.code,
      hint: `Call the new one something else with --job, or schedule what is there: punctual every RULE ${job}`,
      problem: error.problem,
    })
  }
}

/** `/opt/bin/nightly-etl.sh` is `nightly-etl.sh`. */
function nameFor(program: string): string {
  const last = program.split('/').at(-1) ?? ''
  return last.replaceAll(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+/, '') || 'adhoc'
}

/** Directories of this machine mean something only to workers of this machine. */
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

async function wishes(options: EveryOptions, { terminal }: Cli): Promise<object> {
  const { overlap, missed, jitter, deadline } = options
  const expect = options.expect && expectOf(options.expect)
  const zone = options.zone ?? terminal.zone
  const timeOf = async (text: string | undefined, flag: string) =>
    text && new Date(await readWhen(text, { now: terminal.now, zone }, flag)).toISOString()
  const start = await timeOf(options.start, '--start')
  const end = await timeOf(options.end, '--end')
  const said = { zone, overlap, missed, jitter, start, end, deadline, expect }
  const given = Object.entries(said).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(given), ...common(options) }
}

/** Whether the rest makes sense is for the server to say. */
function expectOf({ output, ...rest }: Readonly<Record<string, string>>): object {
  if (output === undefined) return rest
  return { ...rest, output: output === 'true' || (output === 'false' ? false : output) }
}

function describe(schedule: WireSchedule, terminal: Terminal): string {
  const { job, name, words, next, definition } = schedule
  const now = terminal.now()
  const when =
    next === null
      ? 'not before somebody resumes it'
      : `${instantIn(next, definition.zone ?? 'UTC', now)} (${distance(next, now)})`
  const lines = [...beside(terminal, '', `${job}/${name}  ${words}`), `  next  ${when}`]
  return `${lines.join('\n')}\n`
}

function over(when: string): Failure {
  return new Failure(`${when} is over`, { exitCode: EXIT.usage, hint: 'Choose a time to come.' })
}
