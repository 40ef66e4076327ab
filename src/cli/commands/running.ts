import type { Command } from 'commander'
import { formatDuration, parseDuration } from '../../core/duration.ts'
import type { SubmitAnswer } from '../../core/protocol.ts'
import type { WireRun } from '../../core/wire.ts'
import type { Cli } from '../cli.ts'
import { EXIT, exitCodeOfState } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { findRun } from '../find-run.ts'
import type { ServerCalls } from '../server-calls.ts'
import { harmless, showState } from '../terminal.ts'
import { printOutput, type RunEnd, watchRun } from '../watch-run.ts'

interface RunOptions {
  readonly input?: string
  readonly queue?: string
  readonly priority?: string
  readonly at?: string
  readonly key?: string
  readonly tag: Readonly<Record<string, string>>
  readonly label: Readonly<Record<string, string>>
  readonly timeout?: string
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
      .option('--cwd <directory>', 'where it starts; here, if the server is on this machine'),
  ).action(
    async (argv: string[], options: RunOptions & { job?: string; cwd?: string }, command) => {
      try {
        const calls = cli.calls(command)
        const { job, cwd = isHere(calls.url) ? terminal.cwd : undefined } = options
        const id = await submit(calls, {
          argv,
          ...(cwd && { cwd }),
          ...(job && { job }),
          ...wishes(options),
        })
        const end = await watchRun(id, { calls, terminal, onOutput: printOutput(terminal) })
        cli.exitWith(childCode(end))
      } catch (error) {
        if (!(error instanceof Failure) || error.exitCode === EXIT.interrupted) throw error
        const { hint, problem, message } = error
        throw new Failure(message, {
          exitCode: EXIT.execFailed,
          ...(hint && { hint }),
          ...(problem && { problem }),
        })
      }
    },
  )

  shared(
    program
      .command('run')
      .description('run a job')
      .argument('[job]', 'a job that is defined')
      .argument('[command...]', 'or, after --, a program and its arguments')
      .option('-w, --wait', 'wait until it has ended'),
  ).action(
    async (
      first: string | undefined,
      rest: string[],
      options: RunOptions & { wait?: true },
      command: Command,
    ) => {
      const calls = cli.calls(command)
      const id = await submit(calls, {
        ...whatToRun(first, rest, cli.hasDashes),
        ...wishes(options),
      })
      if (cli.format(command) !== 'table' && !options.wait) {
        terminal.out(`${cli.format(command) === 'name' ? id : JSON.stringify({ id })}\n`)
        return
      }
      terminal.err(`${id}  ${calls.url}/ui/runs/${id}\n`)
      if (!options.wait) {
        terminal.out(`${id}\n`)
        return
      }
      const end = await watchRun(id, { calls, terminal, onOutput: printOutput(terminal) })
      await finish(cli, calls, id, end)
    },
  )

  program
    .command('logs')
    .description('show what a run printed')
    .argument('<run>', 'an id, the end of one, @last, @last-failed or <job>@last')
    .option('-f, --follow', 'go on until it has ended')
    .option('--attempt <number>', 'an earlier attempt')
    .option('-n, --tail <lines>', 'only the end of it')
    .action(async (text: string, options: LogOptions, command: Command) => {
      const calls = cli.calls(command)
      const id = await findRun(calls, text)
      const query = options.attempt === undefined ? '' : `?attempt=${options.attempt}`
      if (options.follow) {
        await watchRun(id, { calls, terminal, query, onOutput: printOutput(terminal) })
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
      const run = await waitFor(cli, calls, id, timeout)
      const end = { state: run.state, exit_code: null, signal: null }
      await finish(cli, calls, id, end)
    })
}

/** Directories of this machine mean something only to workers of this machine. */
function isHere(url: string): boolean {
  return /^(?:127\.|localhost$|\[::1\]$)/.test(new URL(url).hostname)
}

const NEVER = new AbortController().signal

interface LogOptions {
  readonly follow?: true
  readonly attempt?: string
  readonly tail?: string
}

function shared(command: Command): Command {
  const pairs = (text: string, before: Record<string, string>) => {
    const at = text.indexOf('=')
    if (at <= 0) throw new Failure(`"${text}" is not NAME=VALUE`, { exitCode: EXIT.usage })
    return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
  }
  return command
    .option('-i, --input <json>', 'what it gets as its input')
    .option('--queue <name>', 'the queue it stands in')
    .option('--priority <number>', 'from -10 to 10, higher first')
    .option('--at <time>', 'not before this time, such as 2026-01-31T09:00:00Z')
    .option('--key <text>', 'the same key, the same run: for scripts that may repeat themselves')
    .option('--tag <name=value>', 'describes it; may be repeated', pairs, {})
    .option('--label <name=value>', 'only for workers that carry it; may be repeated', pairs, {})
    .option('--timeout <duration>', 'how long an attempt may take')
}

function wishes(options: RunOptions): object {
  const { input, queue, priority, at, key, tag, label, timeout } = options
  return {
    ...(input === undefined ? {} : { input: readInput(input) }),
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority: Number(priority) }),
    ...(at === undefined ? {} : { run_at: at }),
    ...(key === undefined ? {} : { idempotency_key: key }),
    ...(Object.keys(tag).length === 0 ? {} : { tags: tag }),
    ...(Object.keys(label).length === 0 ? {} : { runs_on: { labels: label } }),
    ...(timeout === undefined ? {} : { timeout }),
  }
}

function readInput(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Failure('the input is not JSON', {
      exitCode: EXIT.usage,
      hint: `Quote it for the shell: -i '{"name": "value"}'.`,
      cause: error,
    })
  }
}

/** `run nightly` names a job; `run -- sh -c …` is a command, whose first word is no job. */
function whatToRun(first: string | undefined, rest: readonly string[], isCommand: boolean): object {
  if (first === undefined) {
    throw new Failure('name a job, or give a command after --', { exitCode: EXIT.usage })
  }
  if (isCommand) return { argv: [first, ...rest] }
  if (rest.length === 0) return { job: first }
  throw new Failure(`"${rest[0]}" is one word too many`, {
    exitCode: EXIT.usage,
    hint: `To run a command, put -- before it: punctual run -- ${[first, ...rest].join(' ')}`,
  })
}

async function submit(calls: ServerCalls, body: object): Promise<string> {
  return (await calls.call<SubmitAnswer>('POST', '/v1/runs', body)).id
}

/** The child's own code, as a shell would give it. */
function childCode({ state, exit_code, signal }: RunEnd): number {
  if (exit_code !== null) return exit_code
  if (signal !== null) return 128 + (SIGNALS[signal] ?? 0)
  return state === 'succeeded' ? EXIT.ok : EXIT.execFailed
}

const SIGNALS: Readonly<Record<string, number>> = {
  ...{ SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGTRAP: 5, SIGABRT: 6, SIGBUS: 7, SIGFPE: 8 },
  ...{ SIGKILL: 9, SIGUSR1: 10, SIGSEGV: 11, SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15 },
}

const POLL_MS = 20_000
const HEARTBEAT_MS = 30_000

/** Says every change of state, and now and then that it is still there. */
async function waitFor(cli: Cli, calls: ServerCalls, id: string, timeout: string | undefined) {
  const { terminal } = cli
  const startedAt = terminal.now()
  const untilAt = timeout === undefined ? Infinity : startedAt + parseDuration(timeout, '--timeout')
  let state = ''
  let saidAt = startedAt
  for (;;) {
    const leftMs = Math.max(0, Math.min(POLL_MS, untilAt - terminal.now()))
    const wait = state === '' ? 0 : leftMs
    const run = await calls.call<WireRun>('GET', `/v1/runs/${id}?wait=${Math.floor(wait)}ms`)
    if (run.finished_at !== null) return run
    if (run.state !== state || terminal.now() - saidAt >= HEARTBEAT_MS) {
      const waited = formatDuration(terminal.now() - startedAt)
      terminal.err(`${showState(terminal, run.state)}  ${id}  ${waited}\n`)
      saidAt = terminal.now()
    }
    ;({ state } = run)
    if (terminal.now() >= untilAt) {
      throw new Failure(`${id} is still ${state} after ${timeout}`, {
        exitCode: EXIT.waitTimedOut,
        hint: `It goes on. punctual wait ${id}`,
      })
    }
  }
}

async function finish(cli: Cli, calls: ServerCalls, id: string, { state }: RunEnd): Promise<void> {
  const { terminal } = cli
  const run = await calls.call<WireRun>('GET', `/v1/runs/${id}`)
  const said = run.message === null ? '' : `: ${harmless(run.message)}`
  terminal.err(`${showState(terminal, state)}  ${id}${said}\n`)
  if (state === 'failed')
    terminal.err(`  next:  punctual logs ${id}\n         punctual retry ${id}\n`)
  cli.exitWith(exitCodeOfState(state))
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
