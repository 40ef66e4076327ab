import type { Command } from 'commander'
import { formatDuration } from '../../core/text/duration.ts'
import { formatSize } from '../../core/text/size.ts'
import type { WireAttempt, WirePage } from '../../core/wire/views.ts'
import type { WireJob } from '../../core/job/job-views.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import { hangingIndent } from '../terminal/hanging-indent.ts'
import type { Cli } from './cli.ts'
import { describeJob } from '../render/describe-job.ts'
import { latestRuns, fetchJob } from '../find/find-job.ts'
import { resolveRun, isRunId } from '../find/find-run.ts'
import { printList, printOne, type Show } from '../terminal/output.ts'
import type { Column } from '../terminal/table.ts'
import { harmless, paint, showState, type Terminal } from '../terminal/terminal.ts'
import { summarizeJob } from '../render/summarize-job.ts'

/** Waiting and running runs, in the filter language. */
const LIVE = 'state:live'

interface RunsOptions {
  readonly limit: string
  readonly steps?: boolean
}

/** Commands `ls`, `ps`, `runs` and `show`: jobs, runs and their states. */
export function runsCommands(program: Command, cli: Cli): void {
  listCommands(program, cli)
  showCommand(program, cli)
}

function listCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('ls')
    .description('list jobs')
    .action(async (_options: object, command: Command) => {
      const calls = cli.calls(command)
      const { data } = await calls.call<WirePage<WireJob>>('GET', '/v1/jobs?limit=500')
      printList(terminal, cli.format(command), data, jobsOf(terminal))
    })

  program
    .command('runs')
    .description('list runs, newest first')
    .argument('[filter...]', 'such as state:failed job:etl-* since:24h')
    .option('-n, --limit <count>', 'how many', '25')
    .option('--steps', 'with the steps of workflows')
    .action(async (words: string[], { limit, steps }: RunsOptions, command: Command) => {
      const filter = words.join(' ')
      await listRuns(cli, command, { filter, limit, steps: steps ?? asksForSteps(filter) })
    })

  program
    .command('ps')
    .description('list waiting and running runs')
    .option('-n, --limit <count>', 'how many', '50')
    .action(async ({ limit }: { limit: string }, command: Command) => {
      await listRuns(cli, command, { filter: LIVE, limit, steps: true })
    })
}

function showCommand(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('show')
    .description('show a job, or a run')
    .argument('<job or run>', 'a job; or an id, the end of one, @last, @last-failed or <job>@last')
    .action(async (text: string, _options: object, command: Command) => {
      const calls = cli.calls(command)
      const job = isRunId(text) ? undefined : await fetchJob(calls, text)
      if (job) return showJob(cli, command, job)
      const id = await resolveRun(calls, text, { orJob: true })
      const run = await calls.call<WireRun>('GET', `/v1/runs/${id}`)
      const { data } = await calls.call<{ data: WireAttempt[] }>('GET', `/v1/runs/${id}/attempts`)
      printOne(terminal, cli.format(command), run, {
        name: id,
        humanText: () => describeRun(terminal, run, data),
      })
    })
}

async function showJob(cli: Cli, command: Command, job: WireJob): Promise<void> {
  const { terminal } = cli
  const format = cli.format(command)
  const runs = format === 'table' ? await latestRuns(cli.calls(command), job.name) : []
  const humanText = () => describeJob(terminal, job, runs)
  printOne(terminal, format, job, { name: job.name, humanText })
}

/** Whether the filter names a step or a property of steps. */
function asksForSteps(filter: string): boolean {
  return /(?:^|\s)(?:steps:|job:\S*\/)/.test(filter)
}

async function listRuns(
  cli: Cli,
  command: Command,
  { filter, limit, steps }: { filter: string; limit: string; steps: boolean },
): Promise<void> {
  const calls = cli.calls(command)
  const sent = await zonedFilter(filter, cli.terminal)
  const q = steps ? sent : `${sent} steps:no`.trim()
  const query = new URLSearchParams({ limit, ...(q === '' ? {} : { q }) })
  const data: WireRun[] = []
  // The server examines a bounded number of runs per page, so a page may be short without being the
  // last.
  for (let isOver = false; !isOver;) {
    const page = await calls.call<WirePage<WireRun>>('GET', `/v1/runs?${query.toString()}`)
    data.push(...page.data)
    isOver = page.next_cursor === null || data.length >= Number(limit)
    query.set('limit', String(Number(limit) - data.length))
    query.set('cursor', page.next_cursor ?? '')
  }
  printList(cli.terminal, cli.format(command), data, runsOf(cli.terminal, filter))
}

/** Adds the user's time zone to a filter such as `since:yesterday`: the server reads it as UTC. */
async function zonedFilter(filter: string, { zone }: Terminal): Promise<string> {
  if (!/\b(?:since|until):/.test(filter)) return filter
  const { nameZone } = await import('../../core/run/run-filter.ts')
  return nameZone(filter, zone)
}

function jobsOf(terminal: Terminal): Show<WireJob> {
  return {
    nameOf: ({ name }) => name,
    empty: `No jobs are defined yet. Define one:
  punctual api PUT /v1/jobs/hello -d '{"run": "echo hello"}'
  punctual run hello --wait`,
    columns: [
      { title: 'JOB', show: ({ name }) => name, shrinks: true },
      { title: 'VERSION', show: ({ version }) => `v${version}` },
      {
        title: 'STATE',
        show: ({ paused }) => (paused ? paint(terminal, 'yellow', 'paused') : 'on'),
      },
      {
        title: 'DOES',
        show: ({ definition, name }) => harmless(summarizeJob(definition, name)),
        shrinks: true,
      },
    ],
  }
}

function runsOf(terminal: Terminal, filter: string): Show<WireRun> {
  const columns: Column<WireRun>[] = [
    { title: 'RUN', show: ({ id }) => id },
    { title: 'JOB', show: ({ job }) => job, shrinks: true, minWidth: 24 },
    { title: 'STATE', show: ({ state }) => showState(terminal, state) },
    { title: 'TOOK', show: (run) => took(run, terminal) },
    {
      title: 'TRIES',
      show: ({ attempt }) => (attempt > 1 ? String(attempt) : ''),
      hideIfEmpty: true,
    },
    { title: 'CREATED', show: ({ created_at }) => `${ago(created_at, terminal)} ago` },
    { title: 'WORKER', show: ({ worker }) => harmless(worker ?? '-'), shrinks: true, dropOrder: 1 },
    { title: 'BY', show: ({ created_by }) => harmless(created_by), shrinks: true, dropOrder: 2 },
  ]
  return {
    columns,
    nameOf: ({ id }) => id,
    empty: noRuns(filter),
  }
}

function noRuns(filter: string): string {
  if (filter === '') return 'No runs yet. Try: punctual exec -- echo hello'
  if (filter === LIVE) return 'Nothing waits or runs. What has ended: punctual runs'
  return `No runs match ${filter}. All of them: punctual runs`
}

/** Of a large payload, the server sends only the size. */
function describePayload(value: unknown, bytes: number | null): string | null {
  if (bytes !== null) return `${formatSize(bytes)}, shown by -o json`
  return value === null ? null : JSON.stringify(value)
}

function describeRun(terminal: Terminal, run: WireRun, attempts: readonly WireAttempt[]): string {
  const facts: [string, string | null][] = [
    ['state', showState(terminal, run.state) + (run.cancelling ? ' (stopping)' : '')],
    ['job', run.job],
    ['queue', run.queue],
    ['created', `${run.created_at} (${ago(run.created_at, terminal)} ago)`],
    ['started by', run.created_by],
    ['due', run.due_at],
    ['took', run.started_at === null ? null : took(run, terminal)],
    ['worker', run.worker],
    ['exit code', run.process?.exit_code?.toString() ?? null],
    ['signal', run.process?.signal ?? null],
    ['contained by', run.process?.containment ?? null],
    ['message', run.message],
    ['input', describePayload(run.input, run.input_bytes)],
    ['result', describePayload(run.result, run.result_bytes)],
    [
      'tags',
      Object.entries(run.tags)
        .map((pair) => pair.join('='))
        .join(' ') || null,
    ],
    ['retry of', run.retry_of],
    ['runs after', run.trigger ? describeTrigger(run.trigger) : null],
  ]
  const lines = facts.flatMap(([name, value]) =>
    value === null ? [] : hangingIndent(terminal, `  ${name.padEnd(12)} `, value),
  )
  const tries =
    attempts.length < 2
      ? []
      : ['  attempts', ...attempts.flatMap((one) => describeAttempt(terminal, one))]
  return [paint(terminal, 'bold', run.id), ...lines, ...tries, ''].join('\n')
}

function describeTrigger({ run, job, state }: NonNullable<WireRun['trigger']>): string {
  return `${run} of ${job} (${state})`
}

function describeAttempt(terminal: Terminal, one: WireAttempt): string[] {
  const { attempt, state, cause, message, worker } = one
  const how = cause === null ? state : `${state} (${cause})`
  const where = worker === null ? '' : ` on ${worker}`
  return hangingIndent(
    terminal,
    `    ${attempt}  `,
    `${how}${where}${message === null ? '' : `: ${message}`}`,
  )
}

function took({ started_at, finished_at }: WireRun, terminal: Terminal): string {
  if (started_at === null) return '-'
  const end = finished_at === null ? terminal.now() : Date.parse(finished_at)
  return formatDuration(Math.max(0, end - Date.parse(started_at)))
}

function ago(time: string, terminal: Terminal): string {
  return formatDuration(Math.max(0, terminal.now() - Date.parse(time)))
}
