import type { Command } from 'commander'
import { formatDuration } from '../../core/text/duration.ts'
import type { WireJobStep, WireStep, WireStepItem } from '../../core/workflow/views/step-views.ts'
import type { Cli } from './cli.ts'
import { everyPage } from '../find/every-page.ts'
import { resolveRun } from '../find/find-run.ts'
import { itemValues } from '../find/item-values.ts'
import { jobPath } from '../find/find-job.ts'
import { findWaiting, stepPath } from '../find/find-step.ts'
import { printList, printOne, type Show } from '../terminal/output.ts'
import { readCount } from '../args/read-count.ts'
import { readInput } from '../args/read-input.ts'
import { repeated } from '../args/repeated.ts'
import {
  type PlacedStep,
  placeSteps,
  showStepState,
  spanOf,
  stepColumns,
  tookOf,
  triesOf,
} from '../render/step-table.ts'
import type { Column } from '../terminal/table.ts'
import { harmless, type Terminal } from '../terminal/terminal.ts'

const RUN = 'an id, the end of one, @last, @last-failed or <job>@last'
/** Programs page through longer lists themselves. */
const MOST_STEPS = 10_000

/** Commands `steps`, `graph`, `approve` and `refuse`: workflows and decisions about their steps. */
export function workflowCommands(program: Command, cli: Cli): void {
  stepsCommand(program, cli)
  graphCommand(program, cli)
  decisionCommands(program, cli)
}

function stepsCommand(program: Command, cli: Cli): void {
  const { terminal } = cli
  program
    .command('steps')
    .description('show the steps of a run: state, duration and reason')
    .argument('<run>', `a job, for its last run; ${RUN}`)
    .argument('[step]', 'only the items of this one')
    .option('--state <state>', 'only those in this state, such as failed')
    .action(async (text: string, step: string | undefined, options: StepsOptions, command) => {
      const calls = cli.calls(command)
      const id = await resolveRun(calls, text, { orJob: true })
      const format = cli.format(command)
      if (step !== undefined) {
        const path = `${stepPath(id, step)}/items?`
        const items = await everyPage<WireStepItem>(calls, path, MOST_STEPS)
        const values = format === 'table' ? await itemValues(calls, items) : new Map()
        return printList(terminal, format, items, itemsOf(terminal, step, values))
      }
      const query = options.state === undefined ? '' : `state=${encodeURIComponent(options.state)}`
      const steps = await everyPage<WireStep>(calls, `/v1/runs/${id}/steps?${query}`, MOST_STEPS)
      if (steps.length === MOST_STEPS) reportTruncated(terminal, `GET /v1/runs/${id}/steps`)
      if (format !== 'table') return printList(terminal, format, steps, plain)
      const columns = stepColumns(terminal, spanOf(steps, terminal.now()))
      const empty = `${id} has no such steps.`
      printList(terminal, format, placeSteps(steps), { columns, nameOf: nameOfPlaced, empty })
    })
}

function graphCommand(program: Command, cli: Cli): void {
  const { terminal } = cli
  program
    .command('graph')
    .description('draw the steps of a job, with their recent statistics')
    .argument('<job>', 'a job that is defined')
    .action(async (job: string, _options: object, command: Command) => {
      const calls = cli.calls(command)
      const path = `${jobPath(job)}/steps?`
      const steps = await everyPage<WireJobStep>(calls, path, MOST_STEPS)
      if (steps.length === MOST_STEPS) reportTruncated(terminal, `GET ${jobPath(job)}/steps`)
      const format = cli.format(command)
      if (format !== 'table') return printList(terminal, format, steps, plain)
      const show = { columns: LATELY, nameOf: nameOfPlaced, empty: `${job} has no steps.` }
      printList(terminal, format, placeSteps(steps), show)
    })
}

function decisionCommands(program: Command, cli: Cli): void {
  const { terminal } = cli
  const deciding = (verb: 'approve' | 'refuse', what: string) =>
    program
      .command(verb)
      .description(what)
      .argument('<run>', RUN)
      .argument('[step]', 'which step; the one that waits, if only one does')
      .option('-m, --message <text>', 'the reason, shown with the decision')

  const decide = async (
    [text, named]: readonly [string, string | undefined],
    verb: 'approve' | 'refuse',
    bodyOf: (step: WireStep) => object,
    command: Command,
  ) => {
    const calls = cli.calls(command)
    const id = await resolveRun(calls, text)
    const step = await findWaiting(calls, id, named)
    const path = `${stepPath(id, step.name)}/${verb}`
    const decided = await calls.call<WireStep>('POST', path, bodyOf(step))
    const word = verb === 'approve' ? 'approved' : 'refused'
    const humanText = () => `${step.name} of ${id} is ${word}\n`
    printOne(terminal, cli.format(command), decided, { name: step.name, humanText })
  }

  deciding('approve', 'approve a waiting step of a run')
    .option(
      '-i, --input <json or name=value>',
      'the input that the step requests; may be repeated',
      repeated,
    )
    .action(
      async (
        run: string,
        step: string | undefined,
        { input, message }: { input?: string[]; message?: string },
        command: Command,
      ) => {
        const bodyOf = ({ approval }: WireStep) => ({
          ...(input && { input: readInput(input, approval?.input ?? {}) }),
          ...(message === undefined ? {} : { message }),
        })
        await decide([run, step], 'approve', bodyOf, command)
      },
    )

  deciding('refuse', 'refuse a waiting step of a run').action(
    async (
      run: string,
      step: string | undefined,
      options: { message?: string },
      command: Command,
    ) => {
      await decide([run, step], 'refuse', () => options, command)
    },
  )
}

/** Options of `skip` that concern a step. */
export interface SkipOptions {
  readonly item?: string
}

/** Command `skip` for a step of a run. For a schedule, see `schedules.ts`. */
export async function skipRunStep(
  cli: Cli,
  command: Command,
  [text, step]: readonly [run: string, step: string],
  { item }: SkipOptions,
): Promise<void> {
  const calls = cli.calls(command)
  const id = await resolveRun(calls, text)
  const body = item === undefined ? {} : { item: readCount(item, '--item', 0) }
  const skipped = await calls.call<WireStep>('POST', `${stepPath(id, step)}/skip`, body)
  const what = item === undefined ? step : `item ${item} of ${step}`
  const humanText = () => `${what} of ${id} is skipped\n`
  printOne(cli.terminal, cli.format(command), skipped, { name: step, humanText })
}

/** Warns that the list is incomplete. */
function reportTruncated(terminal: Terminal, route: string): void {
  const count = MOST_STEPS.toLocaleString('en')
  terminal.err(`Only the first ${count} are shown; read the others through the API: ${route}\n`)
}

interface StepsOptions {
  readonly state?: string
}

const nameOfPlaced = ({ step }: PlacedStep<WireStep | WireJobStep>) => step.name
const plain: Show<WireStep | WireJobStep> = { nameOf: ({ name }) => name, columns: [], empty: '' }

const LATELY: Column<PlacedStep<WireJobStep>>[] = [
  { title: 'STEP', show: ({ title }) => title, shrinks: true },
  { title: 'RUNS', show: ({ step: { statistics } }) => String(statistics.runs || '') },
  { title: 'FAILED', show: ({ step: { statistics } }) => String(statistics.failed || '') },
  { title: 'P50', show: ({ step: { statistics } }) => typicalDuration(statistics.p50_ms) },
  { title: 'P95', show: ({ step: { statistics } }) => typicalDuration(statistics.p95_ms) },
]

function typicalDuration(ms: number | null): string {
  return ms === null ? '' : formatDuration(ms)
}

function itemsOf(
  terminal: Terminal,
  step: string,
  values: ReadonlyMap<number, string>,
): Show<WireStepItem> {
  return {
    nameOf: ({ run }) => run?.id ?? '',
    empty: `No item of ${step} has started.`,
    columns: [
      { title: 'ITEM', show: ({ item }) => String(item) },
      {
        title: 'VALUE',
        show: ({ item }) => values.get(item) ?? '',
        hideIfEmpty: true,
        shrinks: true,
        minWidth: 16,
      },
      { title: 'STATE', show: ({ state }) => showStepState(terminal, state) },
      { title: 'TOOK', show: (item) => tookOf(item, terminal) },
      { title: 'TRIES', show: triesOf, hideIfEmpty: true },
      { title: 'RUN', show: ({ run, reused }) => (run?.id ?? '') + (reused ? ' (kept)' : '') },
      {
        title: 'WHY',
        show: ({ sentence, run, state }) =>
          harmless(sentence ?? (state === 'failed' ? (run?.message ?? '') : '')),
        shrinks: true,
        minWidth: 20,
        hideIfEmpty: true,
      },
    ],
  }
}
