import { constants } from 'node:os'
import type { Command } from 'commander'
import { readLabel } from '../../core/worker/labels.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import type { Cli } from './cli.ts'
import { EXIT, exitCodeOfState } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { resolveRun } from '../find/find-run.ts'
import { inputForCommand } from '../args/forward-input.ts'
import { inputOfJob, splitFlags } from '../args/job-input.ts'
import { readAfter } from '../args/read-after.ts'
import { readPair } from '../args/read-pairs.ts'
import { readFutureText } from '../args/read-when.ts'
import { repeated } from '../args/repeated.ts'
import { submitRun } from '../requests/submit-run.ts'
import { runSchedule } from '../requests/run-schedule.ts'
import { addRequestFlags, type RequestOptions } from '../args/request-flags.ts'
import { type Format, printOne } from '../terminal/output.ts'
import { isHere } from '../server/server-address.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, showState, type Terminal } from '../terminal/terminal.ts'
import { waitForRun } from '../watch/wait-run.ts'
import { type RunEnd, watchRun } from '../watch/watch-run.ts'
import { watchSteps } from '../watch/watch-steps.ts'
import { inContainer, parseRunTarget } from '../args/parse-run-target.ts'

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

interface ExecOptions {
  readonly job?: string
  /** False with `--no-stdin`. */
  readonly stdin: boolean
}

/** Commands `exec`, `run` and `wait`. */
export function runCommands(program: Command, cli: Cli): void {
  execCommand(program, cli)
  runCommand(program, cli)
  waitCommand(program, cli)
}

function execCommand(program: Command, cli: Cli): void {
  const { terminal } = cli
  shared(
    program
      .command('exec')
      .description('run a command on a worker, with its output and its exit code as if it ran here')
      .argument('<command...>', 'the program and its arguments, after --')
      .option('--job <name>', 'the job that the run belongs to')
      .option('--image <name>', 'run it in a container of this image')
      .option(
        '--cwd <directory>',
        'the directory to start in; this one, if the server is on this machine',
      )
      .option('--no-stdin', 'do not read standard input'),
  ).action(async (argv: string[], options: RunOptions & ExecOptions, command) => {
    const calls = cli.calls(command)
    const { job, image } = options
    const stdin = options.stdin ? await inputForCommand(terminal) : undefined
    const cwd = options.cwd ?? (isHere(calls.url) && image === undefined ? terminal.cwd : undefined)
    const id = await submitRun(calls, {
      ...(image === undefined ? { argv, ...(cwd && { cwd }) } : inContainer(image, argv, cwd)),
      ...(job && { job }),
      ...(stdin === undefined ? {} : { stdin }),
      ...(await submissionOf(options, terminal)),
      ...(await inputOfJob(calls, undefined, { texts: options.input ?? [], flags: [] })),
    })
    const code = childCode(await watchRun(id, { calls, terminal }))
    if (code === undefined) throw notStarted(await calls.call<WireRun>('GET', `/v1/runs/${id}`))
    cli.exitWith(code)
  })
}

function runCommand(program: Command, cli: Cli): void {
  const { terminal } = cli
  addRequestFlags(
    shared(
      program
        .command('run')
        .description('run a job')
        .argument('[job]', 'a job that is defined, or JOB/SCHEDULE: as that would run it, now')
        .argument('[command...]', 'or, after --, a program and its arguments')
        .option('-w, --wait', 'wait until it has ended')
        .option(
          '--task <handler>',
          'run this handler, also if no worker that has it is connected yet',
        )
        .option(
          '--after <run>',
          'not before this run has succeeded; <run>:notok, <run>:any',
          repeated,
        )
        .option('--image <name>', 'run the command in a container of this image')
        .addHelpText('after', FLAGS_OF_JOBS)
        // The flags of a job's declared input are not known here.
        .allowUnknownOption(),
    ),
  ).action(
    async (
      first: string | undefined,
      rest: string[],
      options: RunOptions & RequestOptions & { wait?: true; task?: string },
      command: Command,
    ) => {
      const calls = cli.calls(command)
      const all = first === undefined ? [] : [first, ...rest]
      const { words, flags } = cli.hasDashes ? { words: all, flags: [] } : splitFlags(all)
      const [job, ...others] = words
      const texts = options.input ?? []
      const input = await inputOfJob(calls, cli.hasDashes ? undefined : job, { texts, flags })
      const after = await readAfter(calls, options.after)
      const asked: object = { ...(await submissionOf(options, terminal)), ...input, ...after }
      const isOfSchedule = !cli.hasDashes && others.length === 0 && job?.includes('/')
      const id = isOfSchedule
        ? await runSchedule(calls, job as string, asked)
        : await submitRun(calls, {
            ...parseRunTarget(job, others, cli.hasDashes, options),
            ...asked,
          })
      const format = cli.format(command)
      if (!options.wait) {
        printOne(terminal, format, { id }, { name: id, humanText: () => `${id}\n` })
        // A person may want to continue from here; a script has what it needs.
        if (terminal.isInteractive) terminal.err(`  next:  punctual logs -f ${id}\n`)
        return
      }
      terminal.err(`${id}  ${calls.url}/ui/runs/${id}\n`)
      // With JSON output, the caller gets the run and not its output as well.
      if (format === 'table') await watch(id, calls, terminal)
      finish(cli, format, await waitForRun(id, { calls, terminal, timeout: undefined }))
    },
  )
}

function waitCommand(program: Command, cli: Cli): void {
  const { terminal } = cli
  program
    .command('wait')
    .description('wait until a run has ended')
    .argument('<run>', 'an id, the end of one, @last, @last-failed or <job>@last')
    .option('--timeout <duration>', 'give up after this long; the run continues')
    .action(async (text: string, { timeout }: { timeout?: string }, command: Command) => {
      const calls = cli.calls(command)
      const id = await resolveRun(calls, text)
      finish(cli, cli.format(command), await waitForRun(id, { calls, terminal, timeout }))
    })
}

const FLAGS_OF_JOBS = `
What a job declares as its input can be given as flags after its name:
  punctual run etl --date 2026-01-31 --full`

function shared(command: Command): Command {
  return command
    .option('-i, --input <json or name=value>', 'the input of the run', repeated)
    .option('--queue <name>', 'the queue of the run')
    .option('--priority <number>', 'from -10 to 10, higher first')
    .option('--at <time>', "not before this time, such as 'tomorrow 09:00' or 'in 2 hours'")
    .option('--key <text>', 'an idempotency key: the same key returns the same run')
    .option('--tag <name=value>', 'a tag of the run; may be repeated', readPair)
    .option(
      '--label <name=value>',
      'only workers with this label, gpu=a100 or just gpu; may be repeated',
      readLabel,
    )
    .option('--timeout <duration>', 'how long an attempt may take')
    .option('--memory <size>', 'how much memory the command may take, such as 512MiB')
    .option('--cpu <cores>', 'how many cores, such as 0.5')
    .option('--pids <count>', 'how many processes and threads')
    .option('--run-as <user>', 'the user the command runs as, on workers that allow it')
    .option('--secret <name>', 'a secret to pass as a variable; may be repeated', repeated)
}

async function submissionOf(options: RunOptions, terminal: Terminal): Promise<object> {
  const { queue, priority, at, key, tag, label, timeout } = options
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority: Number(priority) }),
    ...(at === undefined ? {} : { run_at: await readFutureText(at, terminal, '--at') }),
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

/** Prints the run's output as it comes; for a workflow, the state of its steps. */
async function watch(id: string, calls: ServerCalls, terminal: Terminal): Promise<void> {
  const { workflow } = await calls.call<WireRun>('GET', `/v1/runs/${id}`)
  if (workflow) await watchSteps(id, { calls, terminal })
  else await watchRun(id, { calls, terminal })
}

/** The child's exit code, as a shell would report it; undefined if no child was started. */
function childCode({ state, exit_code, signal }: RunEnd): number | undefined {
  if (exit_code !== null) return exit_code
  if (signal !== null) return 128 + (constants.signals[signal as NodeJS.Signals] ?? 0)
  return state === 'succeeded' ? EXIT.ok : undefined
}

function notStarted({ id, state, message }: WireRun): Failure {
  const suffix = message === null ? '' : `: ${harmless(message)}`
  const ended = state === 'failed' ? 'has failed' : `was ${state}`
  return new Failure(`${id} ${ended}${suffix}`, {
    exitCode: EXIT.execFailed,
    code: 'run_failed',
    next: `punctual why ${id}`,
  })
}

function finish(cli: Cli, format: Format, run: WireRun): void {
  const { terminal } = cli
  const { id, state, message } = run
  if (format !== 'table') printOne(terminal, format, run, { name: id, humanText: () => '' })
  const suffix = message === null ? '' : `: ${harmless(message)}`
  terminal.err(`${showState(terminal, state)}  ${id}${suffix}\n`)
  if (state === 'failed') terminal.err(nextOf(run))
  cli.exitWith(exitCodeOfState(state))
}

function nextOf({ id, workflow }: WireRun): string {
  return workflow
    ? `  next:  punctual steps ${id}\n         punctual retry ${id} --failed\n`
    : `  next:  punctual logs ${id}\n         punctual retry ${id}\n`
}
