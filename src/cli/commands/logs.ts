import { type Command, Option } from 'commander'
import type { WireStep } from '../../core/workflow/views/step-views.ts'
import type { WireAttempt, WireLogHit } from '../../core/wire/views.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { resolveRun, isNotFound } from '../find/find-run.ts'
import { stepPath } from '../find/find-step.ts'
import { type PrintedRun, printedRuns, readStepText } from '../find/printed-runs.ts'
import { readCount } from '../args/read-count.ts'
import { type LogSearchOptions, searchLog, showHit } from '../find/search-log.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { paint, showState, type Terminal } from '../terminal/terminal.ts'
import { followOutput, watchRun, whileReporting } from '../watch/watch-run.ts'
import { type WatchControls, withWatchControls } from '../watch/watch-controls.ts'

interface LogOptions extends Partial<LogSearchOptions> {
  readonly attempt?: string
  readonly follow?: true
  readonly step?: string
  readonly tail?: string
}

interface LogRequest {
  readonly calls: ServerCalls
  readonly terminal: LineTracker
  readonly run: WireRun
  readonly options: LogOptions
}

/** Tracks whether the last output ended its line. */
interface LineTracker extends Terminal {
  readonly isAtLineStart: boolean
}

const NEVER = new AbortController().signal
const NEWLINE = 0x0a
/** How long the server waits for the end of a workflow before the client looks for new steps. */
const NEW_STEPS_MS = 2_000

/** Command `logs`: the output of runs. */
export function logCommands(program: Command, cli: Cli): void {
  program
    .command('logs')
    .description('show the output of a run; for a workflow, of its steps in the order they started')
    .argument(
      '<run>',
      'a job, for its last run; an id, the end of one, @last, @last-failed or <job>@last',
    )
    .option('-f, --follow', 'continue until the run has ended')
    .option('--step <step>', 'of a workflow, only this step, or this item of it: load[2]')
    .option('--attempt <number>', 'an earlier attempt')
    .option('-n, --tail <lines>', 'only the last lines')
    .addOption(
      new Option('-g, --grep <text>', 'only lines that have this').conflicts(['follow', 'tail']),
    )
    .option('-E, --regexp', 'read the --grep text as a regular expression')
    .option('-i, --ignore-case', 'ignore upper and lower case in --grep')
    .action(async (text: string, options: LogOptions, command: Command) => {
      const calls = cli.calls(command)
      const terminal = trackLines(cli.terminal)
      const id = await resolveRun(calls, text, { orJob: true })
      const run = await calls.call<WireRun>('GET', `/v1/runs/${id}`)
      checkAttempt(run, options)
      const request = { calls, terminal, run, options }
      if (options.grep !== undefined) {
        if (!(await search(cli, command, request, options.grep))) cli.exitWith(EXIT.notFound)
      } else if (options.follow) await follow(request)
      else if (options.tail !== undefined) await printEnd(request, options.tail)
      else await printAll(request)
    })
}

function checkAttempt({ workflow }: WireRun, { attempt, step }: LogOptions): void {
  if (attempt === undefined) return
  readCount(attempt, '--attempt')
  if (!workflow || step !== undefined) return
  throw new Failure('--attempt of a workflow needs --step: each step has its own attempts', {
    exitCode: EXIT.usage,
  })
}

async function printAll({ calls, terminal, run, options }: LogRequest): Promise<void> {
  let isEmpty = true
  for await (const printed of printedRuns(calls, run, options.step)) {
    const bytes = await inAttempt(calls, printed.id, options.attempt, (query) =>
      calls.stream(`/v1/runs/${printed.id}/logs/raw?${query.toString()}`, NEVER),
    )
    if (bytes === undefined) continue
    isEmpty = false
    terminal.out(heading(terminal, printed))
    for await (const piece of bytes) terminal.outBytes(piece)
  }
  if (isEmpty) terminal.err(nothingYet(terminal, run, options.step))
}

/** The last lines of the whole output: for a workflow, of as many last steps as needed. */
async function printEnd(request: LogRequest, tail: string): Promise<void> {
  const { calls, terminal, run, options } = request
  let left = readCount(tail, '--tail')
  const all: PrintedRun[] = []
  for await (const printed of printedRuns(calls, run, options.step)) all.push(printed)
  const texts: string[] = []
  for (const printed of all.toReversed()) {
    if (left <= 0) break
    const read = await inAttempt(calls, printed.id, options.attempt, (query) => {
      query.set('tail', String(left))
      const path = `/v1/runs/${printed.id}/logs?${query.toString()}`
      return calls.call<{ lines: { text: string }[] }>('GET', path)
    })
    if (read === undefined) continue
    const text = read.lines.map((line) => `${line.text}\n`).join('')
    texts.unshift(heading(terminal, printed) + text)
    left -= read.lines.length
  }
  if (texts.length === 0) terminal.err(nothingYet(terminal, run, options.step))
  for (const text of texts) terminal.out(text)
}

/** Returns false if nothing was found. */
async function search(
  cli: Cli,
  command: Command,
  { calls, terminal, run, options }: LogRequest,
  grep: string,
): Promise<boolean> {
  const format = cli.format(command)
  const found: object[] = []
  let count = 0
  for await (const printed of printedRuns(calls, run, options.step)) {
    let title = format === 'table' ? heading(terminal, printed) : ''
    const onHits = (hits: readonly WireLogHit[]) => {
      count += hits.length
      const where = printed.title === '' ? {} : { run: printed.id, step: printed.title }
      const placed = hits.map((hit) => ({ ...hit, ...where }))
      if (format === 'json') return void found.push(...placed)
      terminal.out(title + placed.map((hit) => showHit(terminal, format, hit)).join(''))
      title = ''
    }
    await inAttempt(calls, printed.id, options.attempt, (query) =>
      searchLog(printed.id, { ...options, grep, query }, { calls, onHits }),
    )
  }
  if (format === 'json') terminal.out(`${JSON.stringify(found, null, 2)}\n`)
  return count > 0
}

/**
 * Follows steps one after another, in the order they started: interleaved lines could not be
 * attributed.
 */
async function follow({ calls, terminal, run, options }: LogRequest): Promise<void> {
  const context = { calls, terminal, attempt: options.attempt }
  if (!run.workflow && options.step === undefined) {
    await watchRun(run.id, context)
    return
  }
  await withWatchControls(run.id, { calls, terminal }, (watching) =>
    whileReporting(run.id, watching, context, () => followSteps(run, watching, context, options)),
  )
}

async function followSteps(
  run: WireRun,
  watching: WatchControls,
  context: Pick<LogRequest, 'calls' | 'terminal'>,
  { step, attempt }: LogOptions,
): Promise<void> {
  const { calls, terminal } = context
  const { signal } = watching
  const followed = new Set<string>()
  for (let waitMs = 0; !signal.aborted; waitMs = NEW_STEPS_MS) {
    const isOver = await hasEnded(run.id, { step, waitMs }, context, signal)
    for await (const printed of printedRuns(calls, run, step)) {
      if (followed.has(printed.id) || signal.aborted) continue
      followed.add(printed.id)
      watching.line.end()
      terminal.out(heading(terminal, printed))
      await followOutput(printed.id, watching, { ...context, attempt })
    }
    if (isOver) return
  }
}

/** Whether nothing more can start: the workflow, or the only step to follow, has ended. */
async function hasEnded(
  id: string,
  { step, waitMs }: { step: string | undefined; waitMs: number },
  { calls }: { readonly calls: ServerCalls },
  signal: AbortSignal,
): Promise<boolean> {
  const path = `/v1/runs/${id}?wait=${waitMs}ms`
  const { finished_at } = await calls.call<WireRun>('GET', path, undefined, { signal })
  if (finished_at !== null || step === undefined) return finished_at !== null
  return (
    (await calls.call<WireStep>('GET', stepPath(id, readStepText(step).name))).finished_at !== null
  )
}

/**
 * Reads the requested attempt, or else the latest that has started: a run that waits for a retry
 * still shows the previous attempt. Undefined if none has started.
 */
async function inAttempt<T>(
  calls: ServerCalls,
  id: string,
  asked: string | undefined,
  read: (query: URLSearchParams) => Promise<T>,
): Promise<T | undefined> {
  const query = (attempt: string | undefined) =>
    new URLSearchParams(attempt === undefined ? {} : { attempt })
  try {
    return await read(query(asked))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  const { data } = await calls.call<{ data: WireAttempt[] }>('GET', `/v1/runs/${id}/attempts`)
  const started = data.filter(({ started_at }) => started_at !== null)
  if (asked !== undefined) throw noAttempt(id, asked, started.length)
  const latest = started.at(-1)
  return latest && read(query(String(latest.attempt)))
}

function noAttempt(id: string, asked: string, count: number): Failure {
  const had = count === 1 ? '1 attempt' : `${count} attempts`
  return new Failure(`${id} has had ${had}, and no attempt ${asked}`, {
    exitCode: EXIT.notFound,
    next: `punctual show ${id}`,
  })
}

function trackLines(terminal: Terminal): LineTracker {
  let isAtLineStart = true
  return {
    ...terminal,
    get isAtLineStart() {
      return isAtLineStart
    },
    outBytes(bytes) {
      terminal.outBytes(bytes)
      if (bytes.length > 0) isAtLineStart = bytes.at(-1) === NEWLINE
    },
  }
}

/** A heading as `tail` prints it for several files; only workflows need one. */
function heading(
  terminal: Pick<LineTracker, 'isAtLineStart' | 'hasColour'>,
  { id, title }: PrintedRun,
): string {
  if (title === '') return ''
  const newLine = terminal.isAtLineStart ? '' : '\n'
  return `${newLine}${paint(terminal, 'bold', `==> ${title} <==`)}  ${id}\n`
}

function nothingYet(terminal: Terminal, run: WireRun, step: string | undefined): string {
  const what = step === undefined ? run.id : `${step} of ${run.id}`
  const started = run.finished_at === null ? 'has not started' : 'never started'
  return `${what} ${started}, so it printed nothing; the run is ${showState(terminal, run.state)}\n  next:  punctual why ${run.id}\n`
}
