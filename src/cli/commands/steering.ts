import type { Command } from 'commander'
import type { CancelAnswer, SubmitAnswer } from '../../core/protocol.ts'
import type { Cli } from '../cli.ts'
import { findRun } from '../find-run.ts'
import { printList } from '../output.ts'

/** cancel, retry. */
export function steeringCommands(program: Command, cli: Cli): void {
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
