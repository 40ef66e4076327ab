import type { Command } from 'commander'
import type { CancelAnswer, SubmitAnswer } from '../../core/wire/protocol.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { cancelStep } from '../requests/cancel-step.ts'
import { resolveRun } from '../find/find-run.ts'
import { inputOfJob } from '../args/job-input.ts'
import { printList, printOne } from '../terminal/output.ts'
import { readCount } from '../args/read-count.ts'
import { isByField, readInput } from '../args/read-input.ts'
import { repeated } from '../args/repeated.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** Commands `cancel`, `retry` and `replay`. */
export function runControlCommands(program: Command, cli: Cli): void {
  const RUN = 'an id, the end of one, @last, @last-failed or <job>@last'

  program
    .command('cancel')
    .description('stop a run, or keep it from starting')
    .argument('<run...>', RUN)
    .option('--step <step>', 'for a workflow, cancel only this step; the others continue')
    .action(async (texts: string[], { step }: { step?: string }, command: Command) => {
      const calls = cli.calls(command)
      await each(cli, command, texts, async (text) => {
        const id = await resolveRun(calls, text)
        if (step !== undefined) return cancelStep(calls, id, step)
        const answer = await calls.call<CancelAnswer>('POST', `/v1/runs/${id}/cancel`)
        const words = answer.state === 'cancelled' ? 'is cancelled' : 'was asked to stop'
        return { answer, name: id, humanText: `${id} ${words}` }
      })
    })

  program
    .command('retry')
    .description('run a finished run again, as a new run')
    .argument('<run...>', RUN)
    .option('--failed', 'for a workflow, only failed steps and those that depend on them')
    .option('--from <step>', 'for a workflow, this step and those that depend on it', repeated)
    .option('--skip <step>', 'for a workflow, skip this step: it counts as done', repeated)
    .action(async (texts: string[], options: RetryOptions, command: Command) => {
      const calls = cli.calls(command)
      const { failed, from, skip } = options
      const how = {
        ...(failed && { only: 'failed' }),
        ...(from && { from }),
        ...(skip && { skip }),
      }
      await each(cli, command, texts, async (text) => {
        const id = await resolveRun(calls, text)
        const answer = await calls.call<SubmitAnswer>('POST', `/v1/runs/${id}/retry`, how)
        calls.lastRun.remember(answer.id)
        return { answer, name: answer.id, humanText: `${answer.id} is a retry of ${id}` }
      })
    })

  program
    .command('replay')
    .description('run a finished run again with another input, or as another version of its job')
    .argument('<run>', RUN)
    .option('-i, --input <json or name=value>', 'the new input, or its changed fields', repeated)
    // Not `--version`, which prints the program's own version.
    .option('--job-version <number>', "the version of the job; the run's own if absent")
    .action(
      async (text: string, { input, jobVersion: version }: ReplayOptions, command: Command) => {
        const calls = cli.calls(command)
        const id = await resolveRun(calls, text)
        if (input === undefined && version === undefined) {
          throw new Failure('name a change with --input or --job-version', {
            exitCode: EXIT.usage,
            next: `punctual retry ${id}`,
          })
        }
        const how = {
          ...(input && { input: await editedInput(calls, id, input) }),
          ...(version === undefined ? {} : { version: readCount(version, '--job-version') }),
        }
        const answer = await calls.call<SubmitAnswer>('POST', `/v1/runs/${id}/retry`, how)
        calls.lastRun.remember(answer.id)
        const humanText = () => `${answer.id} is a replay of ${id}\n`
        printOne(cli.terminal, cli.format(command), answer, { name: answer.id, humanText })
      },
    )
}

interface RetryOptions {
  readonly failed?: true
  readonly from?: readonly string[]
  readonly skip?: readonly string[]
}

interface ReplayOptions {
  readonly input?: readonly string[]
  readonly jobVersion?: string
}

/** Replaces single fields of the run's input; the rest stays. */
async function editedInput(
  calls: ServerCalls,
  id: string,
  texts: readonly string[],
): Promise<unknown> {
  if (!isByField(texts)) return readInput(texts, {})
  const { job, input: before } = await calls.call<WireRun>('GET', `/v1/runs/${id}`)
  const { input } = await inputOfJob(calls, job, { texts, flags: [] })
  return { ...(before as object | null), ...(input as object) }
}

interface Done {
  readonly answer: object
  readonly name: string
  readonly humanText: string
}

/** Sends the requests one after another until one fails, and prints what was done by then. */
async function each(
  { terminal, format }: Cli,
  command: Command,
  texts: readonly string[],
  act: (text: string) => Promise<Done>,
): Promise<void> {
  const done: Done[] = []
  try {
    for (const text of texts) done.push(await act(text))
  } finally {
    const asked = format(command)
    if (asked === 'table') terminal.out(done.map(({ humanText }) => `${humanText}\n`).join(''))
    else {
      const names = new Map(done.map(({ answer, name }) => [answer, name]))
      const nameOf = (answer: object) => names.get(answer) ?? ''
      printList(terminal, asked, [...names.keys()], { nameOf, columns: [], empty: '' })
    }
  }
}
