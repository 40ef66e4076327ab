import type { Command } from 'commander'
import { formatDuration } from '../../core/text/duration.ts'
import type { WireJobStep, WireStep, WireStepItem } from '../../core/workflow/step-views.ts'
import type { Cli } from './cli.ts'
import { everyPage } from '../find/every-page.ts'
import { findRun } from '../find/find-run.ts'
import { jobPath } from '../find/find-schedule.ts'
import { findWaiting, stepPath } from '../find/find-step.ts'
import { printList, printOne, type Show } from '../terminal/output.ts'
import { readInput } from '../args/read-input.ts'
import { repeated } from '../args/repeated.ts'
import {
  type PlacedStep,
  placeSteps,
  showStepState,
  spanOf,
  stepColumns,
  tookOf,
} from '../render/step-table.ts'
import type { Column } from '../terminal/table.ts'
import { harmless, type Terminal } from '../terminal/terminal.ts'

const RUN = 'an id, the end of one, @last, @last-failed or <job>@last'
/** What is more is for programs, page by page. */
const MOST_STEPS = 10_000

/** steps, graph, approve, refuse: workflows and what people decide about them. */
export function workflowCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('steps')
    .description('show the steps of a run: where each is, how long it took, and why')
    .argument('<run>', RUN)
    .argument('[step]', 'only the items of this one')
    .option('--state <state>', 'only those in this state, such as failed')
    .action(async (text: string, step: string | undefined, options: StepsOptions, command) => {
      const calls = cli.calls(command)
      const id = await findRun(calls, text)
      const format = cli.format(command)
      if (step !== undefined) {
        const path = `${stepPath(id, step)}/items?`
        const items = await everyPage<WireStepItem>(calls, path, MOST_STEPS)
        return printList(terminal, format, items, itemsOf(terminal, step))
      }
      const query = options.state === undefined ? '' : `state=${encodeURIComponent(options.state)}`
      const steps = await everyPage<WireStep>(calls, `/v1/runs/${id}/steps?${query}`, MOST_STEPS)
      if (steps.length === MOST_STEPS) tellCut(terminal, `GET /v1/runs/${id}/steps`)
      if (format !== 'table') return printList(terminal, format, steps, plain)
      const columns = stepColumns(terminal, spanOf(steps, terminal.now()))
      const empty = `${id} has no such steps.`
      printList(terminal, format, placeSteps(steps), { columns, nameOf: nameOfPlaced, empty })
    })

  program
    .command('graph')
    .description('draw the steps of a job, and how they went lately')
    .argument('<job>', 'a job that is defined')
    .action(async (job: string, _options: object, command: Command) => {
      const calls = cli.calls(command)
      const path = `${jobPath(job)}/steps?`
      const steps = await everyPage<WireJobStep>(calls, path, MOST_STEPS)
      if (steps.length === MOST_STEPS) tellCut(terminal, `GET ${jobPath(job)}/steps`)
      const format = cli.format(command)
      if (format !== 'table') return printList(terminal, format, steps, plain)
      const show = { columns: LATELY, nameOf: nameOfPlaced, empty: `${job} has no steps.` }
      printList(terminal, format, placeSteps(steps), show)
    })

  const deciding = (verb: 'approve' | 'refuse', what: string) =>
    program
      .command(verb)
      .description(what)
      .argument('<run>', RUN)
      .argument('[step]', 'which step; the one that waits, if only one does')
      .option('-m, --message <text>', 'why, for those who read it later')

  const decide = async (
    [text, named]: readonly [string, string | undefined],
    verb: 'approve' | 'refuse',
    bodyOf: (step: WireStep) => object,
    command: Command,
  ) => {
    const calls = cli.calls(command)
    const id = await findRun(calls, text)
    const step = await findWaiting(calls, id, named)
    const path = `${stepPath(id, step.name)}/${verb}`
    const decided = await calls.call<WireStep>('POST', path, bodyOf(step))
    const word = verb === 'approve' ? 'approved' : 'refused'
    const people = () => `${step.name} of ${id} is ${word}\n`
    printOne(terminal, cli.format(command), decided, { name: step.name, people })
  }

  deciding('approve', 'agree to what a step of a run asks')
    .option('-i, --input <json or name=value>', 'what the step asks for; may be repeated', repeated)
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

  deciding('refuse', 'refuse what a step of a run asks').action(
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

/** Nobody should take a part for the whole. */
function tellCut(terminal: Terminal, route: string): void {
  const count = MOST_STEPS.toLocaleString('en')
  terminal.err(`These are the first ${count}; the others are for programs: ${route}\n`)
}

interface StepsOptions {
  readonly state?: string
}

const nameOfPlaced = ({ step }: PlacedStep<WireStep | WireJobStep>) => step.name
const plain: Show<WireStep | WireJobStep> = { nameOf: ({ name }) => name, columns: [], empty: '' }

const LATELY: Column<PlacedStep<WireJobStep>>[] = [
  { title: 'STEP', show: ({ title }) => title, gives: true },
  { title: 'RUNS', show: ({ step: { statistics } }) => String(statistics.runs || '') },
  { title: 'FAILED', show: ({ step: { statistics } }) => String(statistics.failed || '') },
  { title: 'P50', show: ({ step: { statistics } }) => usual(statistics.p50_ms) },
  { title: 'P95', show: ({ step: { statistics } }) => usual(statistics.p95_ms) },
]

function usual(ms: number | null): string {
  return ms === null ? '' : formatDuration(ms)
}

function itemsOf(terminal: Terminal, step: string): Show<WireStepItem> {
  return {
    nameOf: ({ run }) => run?.id ?? '',
    empty: `No item of ${step} has begun.`,
    columns: [
      { title: 'ITEM', show: ({ item }) => String(item) },
      { title: 'STATE', show: ({ state }) => showStepState(terminal, state) },
      { title: 'TOOK', show: (item) => tookOf(item, terminal) },
      { title: 'RUN', show: ({ run, reused }) => (run?.id ?? '') + (reused ? ' (kept)' : '') },
      {
        title: 'WHY',
        show: ({ sentence, run, state }) =>
          harmless(sentence ?? (state === 'failed' ? (run?.message ?? '') : '')),
        gives: true,
      },
    ],
  }
}
