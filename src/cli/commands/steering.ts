import type { Command } from 'commander'
import type { CancelAnswer, SubmitAnswer } from '../../core/protocol.ts'
import type { Cli } from '../cli.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { findRun } from '../find-run.ts'
import { printList, printOne } from '../output.ts'

interface PauseOptions {
  readonly queue?: string
  readonly all?: true
  readonly reason?: string
}

/** cancel, retry, pause, resume. */
export function steeringCommands(program: Command, cli: Cli): void {
  const { terminal } = cli
  const RUN = 'an id, the end of one, @last, @last-failed or <job>@last'

  program
    .command('cancel')
    .description('stop a run, or keep it from starting')
    .argument('<run...>', RUN)
    .action(async (texts: string[], _options: object, command: Command) => {
      const calls = cli.calls(command)
      await each(cli, command, texts, async (text) => {
        const id = await findRun(calls, text)
        const answer = await calls.call<CancelAnswer>('POST', `/v1/runs/${id}/cancel`)
        const words = answer.state === 'cancelled' ? 'is cancelled' : 'was told to stop'
        return { answer, name: id, people: `${id} ${words}` }
      })
    })

  program
    .command('retry')
    .description('run a finished run again, as a new run')
    .argument('<run...>', RUN)
    .action(async (texts: string[], _options: object, command: Command) => {
      const calls = cli.calls(command)
      await each(cli, command, texts, async (text) => {
        const id = await findRun(calls, text)
        const answer = await calls.call<SubmitAnswer>('POST', `/v1/runs/${id}/retry`)
        return { answer, name: answer.id, people: `${answer.id} is a retry of ${id}` }
      })
    })

  for (const paused of [true, false]) {
    const verb = paused ? 'pause' : 'resume'
    const command = program
      .command(verb)
      .description(paused ? 'stop a job, a queue or everything' : 'let it go on')
      .argument('[job]', 'a job that is defined')
      .option('--queue <name>', 'a queue')
      .option('--all', 'all queues of the project')
    if (paused) command.option('--reason <text>', 'why, for those who wonder')
    command.action(async (job: string | undefined, options: PauseOptions, command_: Command) => {
      const calls = cli.calls(command_)
      const what = await setPaused(job, options, paused, (method, path, body) =>
        calls.call(method, path, body),
      )
      const people = () => `${what} ${paused ? 'is paused' : 'goes on'}\n`
      const name = job ?? options.queue ?? 'all'
      printOne(terminal, cli.format(command_), { name, paused }, { name, people })
    })
  }
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

async function setPaused(
  job: string | undefined,
  { queue, all, reason }: PauseOptions,
  paused: boolean,
  call: (method: string, path: string, body?: object) => Promise<unknown>,
): Promise<string> {
  const given = [job, queue, all].filter((one) => one !== undefined)
  if (given.length !== 1) {
    throw new Failure('name one job, or --queue, or --all', { exitCode: EXIT.usage })
  }
  if (all) {
    await call('PATCH', '/v1/queues', { paused })
    return 'everything'
  }
  if (queue !== undefined) {
    await call('PATCH', `/v1/queues/${encodeURIComponent(queue)}`, { paused })
    return `the queue ${queue}`
  }
  const path = `/v1/jobs/${encodeURIComponent(job as string)}`
  if (paused) await call('POST', `${path}/pause`, reason === undefined ? {} : { reason })
  else await call('POST', `${path}/resume`)
  return `the job ${job}`
}
