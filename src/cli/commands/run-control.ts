import type { Command } from 'commander'
import type { CancelAnswer, SubmitAnswer } from '../../core/wire/protocol.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { cancelStep } from '../requests/cancel-step.ts'
import { findRun } from '../find/find-run.ts'
import { inputOfJob } from '../args/job-input.ts'
import { printList, printOne } from '../terminal/output.ts'
import { readCount } from '../args/read-count.ts'
import { isByField, readInput } from '../args/read-input.ts'
import { repeated } from '../args/repeated.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** cancel, retry, replay. */
export function steeringCommands(program: Command, cli: Cli): void {
  const RUN = 'an id, the end of one, @last, @last-failed or <job>@last'

  program
    .command('cancel')
    .description('stop a run, or keep it from starting')
    .argument('<run...>', RUN)
    .option('--step <step>', 'of a workflow, only what this step runs; the others go on')
    .action(async (texts: string[], { step }: { step?: string }, command: Command) => {
      const calls = cli.calls(command)
      await each(cli, command, texts, async (text) => {
        const id = await findRun(calls, text)
        if (step !== undefined) return cancelStep(calls, id, step)
        const answer = await calls.call<CancelAnswer>('POST', `/v1/runs/${id}/cancel`)
        const words = answer.state === 'cancelled' ? 'is cancelled' : 'was told to stop'
        return { answer, name: id, people: `${id} ${words}` }
      })
    })

  program
    .command('retry')
    .description('run a finished run again, as a new run')
    .argument('<run...>', RUN)
    .option('--failed', 'of a workflow, only what failed and what depends on that')
    .option('--from <step>', 'of a workflow, this step and what depends on it', repeated)
    .option('--skip <step>', 'of a workflow, without this step: it counts as done', repeated)
    .action(async (texts: string[], options: RetryOptions, command: Command) => {
      const calls = cli.calls(command)
      const { failed, from, skip } = options
      const how = {
        ...(failed && { only: 'failed' }),
        ...(from && { from }),
        ...(skip && { skip }),
      }
      await each(cli, command, texts, async (text) => {
        const id = await findRun(calls, text)
        const answer = await calls.call<SubmitAnswer>('POST', `/v1/runs/${id}/retry`, how)
        return { answer, name: answer.id, people: `${answer.id} is a retry of ${id}` }
      })
    })

  program
    .command('replay')
    .description('run a finished run again with another input, or as another version of its job')
    .argument('<run>', RUN)
    .option('-i, --input <json or name=value>', 'the input, or what is different in it', repeated)
    // `--version` is what the program itself answers.
    .option('--job-version <number>', 'the version of the job; that of the run if absent')
    .action(
      async (text: string, { input, jobVersion: version }: ReplayOptions, command: Command) => {
        const calls = cli.calls(command)
        const id = await findRun(calls, text)
        if (input === undefined && version === undefined) {
          throw new Failure('say what is to be different, with --input or --job-version', {
            exitCode: EXIT.usage,
            next: `punctual retry ${id}`,
          })
        }
        const how = {
          ...(input && { input: await editedInput(calls, id, input) }),
          ...(version === undefined ? {} : { version: readCount(version, '--job-version') }),
        }
        const answer = await calls.call<SubmitAnswer>('POST', `/v1/runs/${id}/retry`, how)
        const people = () => `${answer.id} is a replay of ${id}\n`
        printOne(cli.terminal, cli.format(command), answer, { name: answer.id, people })
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

/** Field by field, the rest stays as it was. */
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
  readonly people: string
}

/** One after the other, until one fails. What was done by then is said all the same. */
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
    if (asked === 'table') terminal.out(done.map(({ people }) => `${people}\n`).join(''))
    else {
      const names = new Map(done.map(({ answer, name }) => [answer, name]))
      const nameOf = (answer: object) => names.get(answer) ?? ''
      printList(terminal, asked, [...names.keys()], { nameOf, columns: [], empty: '' })
    }
  }
}
