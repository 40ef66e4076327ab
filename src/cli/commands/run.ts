import { constants } from 'node:os'
import { type Command, Option } from 'commander'
import type { SubmitAnswer } from '../../core/wire/protocol.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import type { Cli } from './cli.ts'
import { EXIT, exitCodeOfState } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { findRun } from '../find/find-run.ts'
import { inputOfJob, splitFlags } from '../args/job-input.ts'
import { readAfter } from '../args/read-after.ts'
import { readPair } from '../args/read-pairs.ts'
import { repeated } from '../args/repeated.ts'
import { runSchedule } from '../requests/run-schedule.ts'
import { addRequestFlags, type RequestOptions } from '../args/request-flags.ts'
import { type Format, printOne } from '../terminal/output.ts'
import { type LogSearchOptions, searchLog } from '../find/search-log.ts'
import { isHere } from '../server/server-address.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, showState, type Terminal } from '../terminal/terminal.ts'
import { waitForRun } from '../watch/wait-run.ts'
import { type RunEnd, watchRun } from '../watch/watch-run.ts'
import { watchSteps } from '../watch/watch-steps.ts'
import { inContainer, whatToRun } from '../args/parse-run-target.ts'

interface RunOptions {
  readonly input?: readonly string[]
  readonly queue?: string
  readonly priority?: string
  readonly at?: string
  readonly key?: string
  readonly tag?: Readonly<Record<string, string>>
  readonly label?: Readonly<Record<string, string>>
  readonly timeout?: string
  readonly memory?: string
  readonly cpu?: string
  readonly pids?: string
  readonly runAs?: string
  readonly secret?: readonly string[]
  readonly image?: string
  readonly cwd?: string
  readonly after?: readonly string[]
}

/** exec, run, wait, logs: starting things and watching them. */
export function runningCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  shared(
    program
      .command('exec')
      .description('run a command on a worker, with its output and its exit code as if it ran here')
      .argument('<command...>', 'the program and its arguments, after --')
      .option('--job <name>', 'the job it counts as')
      .option('--image <name>', 'run it in a container of this image')
      .option('--cwd <directory>', 'where it starts; here, if the server is on this machine'),
  ).action(async (argv: string[], options: RunOptions & { job?: string }, command) => {
    const calls = cli.calls(command)
    const { job, image } = options
    const cwd = options.cwd ?? (isHere(calls.url) && image === undefined ? terminal.cwd : undefined)
    const id = await submit(calls, {
      ...(image === undefined ? { argv, ...(cwd && { cwd }) } : inContainer(image, argv, cwd)),
      ...(job && { job }),
      ...wishes(options),
      ...(await inputOfJob(calls, undefined, { texts: options.input ?? [], flags: [] })),
    })
    const code = childCode(await watchRun(id, { calls, terminal }))
    if (code === undefined) throw neverWas(await calls.call<WireRun>('GET', `/v1/runs/${id}`))
    cli.exitWith(code)
  })

  addRequestFlags(
    shared(
      program
        .command('run')
        .description('run a job')
        .argument('[job]', 'a job that is defined, or JOB/SCHEDULE: as that would run it, now')
        .argument('[command...]', 'or, after --, a program and its arguments')
        .option('-w, --wait', 'wait until it has ended')
        .option(
          '--after <run>',
          'not before this run has succeeded; <run>:notok, <run>:any',
          repeated,
        )
        .option('--image <name>', 'run the command in a container of this image')
        .addHelpText('after', FLAGS_OF_JOBS)
        // What a job declares as its input can be said as flags, which nobody knows here.
        .allowUnknownOption(),
    ),
  ).action(
    async (
      first: string | undefined,
      rest: string[],
      options: RunOptions & RequestOptions & { wait?: true },
      command: Command,
    ) => {
      const calls = cli.calls(command)
      const all = first === undefined ? [] : [first, ...rest]
      const { words, flags } = cli.hasDashes ? { words: all, flags: [] } : splitFlags(all)
      const [job, ...others] = words
      const texts = options.input ?? []
      const input = await inputOfJob(calls, cli.hasDashes ? undefined : job, { texts, flags })
      const after = await readAfter(calls, options.after)
      const asked: object = { ...wishes(options), ...input, ...after }
      const isOfSchedule = !cli.hasDashes && others.length === 0 && job?.includes('/')
      const id = isOfSchedule
        ? await runSchedule(calls, job as string, asked)
        : await submit(calls, { ...whatToRun(job, others, cli.hasDashes, options), ...asked })
      const format = cli.format(command)
      if (!options.wait) {
        printOne(terminal, format, { id }, { name: id, people: () => `${id}\n` })
        // A script has what it needs; a person may want to go on from here.
        if (terminal.isInteractive) terminal.err(`  next:  punctual logs -f ${id}\n`)
        return
      }
      terminal.err(`${id}  ${calls.url}/ui/runs/${id}\n`)
      // A program that asked for the run gets that, and not what it printed as well.
      if (format === 'table') await watch(id, calls, terminal)
      finish(cli, format, await waitForRun(id, { calls, terminal, timeout: undefined }))
    },
  )

  program
    .command('logs')
    .description('show what a run printed')
    .argument('<run>', 'an id, the end of one, @last, @last-failed or <job>@last')
    .option('-f, --follow', 'go on until it has ended')
    .option('--attempt <number>', 'an earlier attempt')
    .option('-n, --tail <lines>', 'only the end of it')
    .addOption(
      new Option('-g, --grep <text>', 'only lines that have this').conflicts(['follow', 'tail']),
    )
    .option('-E, --regexp', 'what --grep gives is a regular expression')
    .option('-i, --ignore-case', 'what --grep gives may be in capitals or not')
    .action(async (text: string, options: LogOptions, command: Command) => {
      const calls = cli.calls(command)
      const id = await findRun(calls, text)
      const query = options.attempt === undefined ? '' : `?attempt=${options.attempt}`
      const { grep, follow } = options
      if (grep !== undefined) {
        const search = { ...options, grep }
        const to = { calls, terminal, format: cli.format(command) }
        if (!(await searchLog(id, search, to))) cli.exitWith(EXIT.notFound)
      } else if (follow) {
        await watchRun(id, { calls, terminal, query })
      } else if (options.tail !== undefined) await printTail(cli, calls, id, options)
      else {
        const bytes = await calls.stream(`/v1/runs/${id}/logs/raw${query}`, NEVER)
        for await (const piece of bytes) terminal.outBytes(piece)
      }
    })

  program
    .command('wait')
    .description('wait until a run has ended')
    .argument('<run>', 'an id, the end of one, @last, @last-failed or <job>@last')
    .option('--timeout <duration>', 'give up after this long; the run goes on')
    .action(async (text: string, { timeout }: { timeout?: string }, command: Command) => {
      const calls = cli.calls(command)
      const id = await findRun(calls, text)
      finish(cli, cli.format(command), await waitForRun(id, { calls, terminal, timeout }))
    })
}

const FLAGS_OF_JOBS = `
What a job declares as its input can be said as flags after its name:
  punctual run etl --date 2026-01-31 --full`

const NEVER = new AbortController().signal

interface LogOptions extends Partial<LogSearchOptions> {
  readonly follow?: true
  readonly tail?: string
}

function shared(command: Command): Command {
  return command
    .option('-i, --input <json or name=value>', 'what it gets as its input', repeated)
    .option('--queue <name>', 'the queue it stands in')
    .option('--priority <number>', 'from -10 to 10, higher first')
    .option('--at <time>', 'not before this time, such as 2026-01-31T09:00:00Z')
    .option('--key <text>', 'the same key, the same run: for scripts that may repeat themselves')
    .option('--tag <name=value>', 'describes it; may be repeated', readPair)
    .option('--label <name=value>', 'only for workers that carry it; may be repeated', readPair)
    .option('--timeout <duration>', 'how long an attempt may take')
    .option('--memory <size>', 'how much memory the command may take, such as 512MiB')
    .option('--cpu <cores>', 'how many cores, such as 0.5')
    .option('--pids <count>', 'how many processes and threads')
    .option('--run-as <user>', 'the user the command runs as, on workers that allow it')
    .option('--secret <name>', 'a secret it is given as a variable; may be repeated', repeated)
}

function wishes(options: RunOptions): object {
  const { queue, priority, at, key, tag, label, timeout } = options
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority: Number(priority) }),
    ...(at === undefined ? {} : { run_at: at }),
    ...(key === undefined ? {} : { idempotency_key: key }),
    ...(tag === undefined ? {} : { tags: tag }),
    ...(label === undefined ? {} : { runs_on: { labels: label } }),
    ...(timeout === undefined ? {} : { timeout }),
    ...limitsOf(options),
    ...(options.runAs === undefined ? {} : { run_as: options.runAs }),
    ...(options.secret === undefined ? {} : { secrets: options.secret }),
  }
}

function limitsOf({ memory, cpu, pids }: RunOptions): object {
  const limits = {
    ...(memory === undefined ? {} : { memory }),
    ...(cpu === undefined ? {} : { cpu: number('cpu', cpu) }),
    ...(pids === undefined ? {} : { pids: number('pids', pids) }),
  }
  return Object.keys(limits).length === 0 ? {} : { limits }
}

function number(flag: string, text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  throw new Failure(`--${flag} is "${text}" and not a number`, { exitCode: EXIT.usage })
}

/** What it prints while it prints it; of a workflow, how its steps are. */
async function watch(id: string, calls: ServerCalls, terminal: Terminal): Promise<void> {
  const { workflow } = await calls.call<WireRun>('GET', `/v1/runs/${id}`)
  if (workflow) await watchSteps(id, { calls, terminal })
  else await watchRun(id, { calls, terminal })
}

async function submit(calls: ServerCalls, body: object): Promise<string> {
  return (await calls.call<SubmitAnswer>('POST', '/v1/runs', body)).id
}

/** The child's own code, as a shell would give it; none if there was no child to have one. */
function childCode({ state, exit_code, signal }: RunEnd): number | undefined {
  if (exit_code !== null) return exit_code
  if (signal !== null) return 128 + (constants.signals[signal as NodeJS.Signals] ?? 0)
  return state === 'succeeded' ? EXIT.ok : undefined
}

function neverWas({ id, state, message }: WireRun): Failure {
  const said = message === null ? '' : `: ${harmless(message)}`
  return new Failure(`${id} is ${state}${said}`, {
    exitCode: EXIT.execFailed,
    code: 'run_failed',
    next: `punctual why ${id}`,
  })
}

function finish(cli: Cli, format: Format, run: WireRun): void {
  const { terminal } = cli
  const { id, state, message } = run
  if (format !== 'table') printOne(terminal, format, run, { name: id, people: () => '' })
  const said = message === null ? '' : `: ${harmless(message)}`
  terminal.err(`${showState(terminal, state)}  ${id}${said}\n`)
  if (state === 'failed') terminal.err(nextOf(run))
  cli.exitWith(exitCodeOfState(state))
}

function nextOf({ id, workflow }: WireRun): string {
  return workflow
    ? `  next:  punctual steps ${id}\n         punctual retry ${id} --failed\n`
    : `  next:  punctual logs ${id}\n         punctual retry ${id}\n`
}

async function printTail(cli: Cli, calls: ServerCalls, id: string, options: LogOptions) {
  const query = new URLSearchParams({
    tail: options.tail ?? '10',
    ...(options.attempt === undefined ? {} : { attempt: options.attempt }),
  })
  const path = `/v1/runs/${id}/logs?${query.toString()}`
  const { lines } = await calls.call<{ lines: { text: string }[] }>('GET', path)
  for (const { text } of lines) cli.terminal.out(`${text}\n`)
}
