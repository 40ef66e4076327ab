import type { Command } from 'commander'
import type { WireScheduleWhy } from '../../core/schedule/definition/schedule-views.ts'
import type { WireWhy } from '../../core/wire/views.ts'
import { hangingIndent } from '../terminal/hanging-indent.ts'
import type { Cli } from './cli.ts'
import { resolveSchedule, schedulePath } from '../find/find-schedule.ts'
import { resolveRun } from '../find/find-run.ts'
import { printOne } from '../terminal/output.ts'
import { harmless, showState, type Terminal } from '../terminal/terminal.ts'

/** Command `why`: the reason of the state of a run or schedule. */
export function whyCommand(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('why')
    .description(
      'explain why a run is in its state, or why a schedule does not fire, and what would change that',
    )
    .argument(
      '<run>',
      'a job, for its last run; an id, the end of one, @last, @last-failed, <job>@last; or JOB/SCHEDULE',
    )
    .action(async (text: string, _options: object, command: Command) => {
      const calls = cli.calls(command)
      if (text.includes('/')) return whySchedule(cli, command, text)
      const id = await resolveRun(calls, text, { orJob: true })
      const why = await calls.call<WireWhy>('GET', `/v1/runs/${id}/why`)
      printOne(terminal, cli.format(command), why, {
        name: id,
        humanText: () => {
          const fixes = why.fixes.map((fix) => fix.replace('--server URL', `--server ${calls.url}`))
          return describeWhy(terminal, { ...why, fixes }, showState(terminal, why.state))
        },
      })
    })
}

async function whySchedule(cli: Cli, command: Command, text: string): Promise<void> {
  const calls = cli.calls(command)
  const path = schedulePath(await resolveSchedule(calls, text))
  const why = await calls.call<WireScheduleWhy>('GET', `${path}/why`)
  const humanText = () => describeWhy(cli.terminal, why, why.state)
  printOne(cli.terminal, cli.format(command), why, { name: text, humanText })
}

function describeWhy(
  terminal: Terminal,
  why: Pick<WireWhy, 'sentence' | 'details' | 'fixes'>,
  state: string,
): string {
  const lines = [
    ...hangingIndent(terminal, `${state}  `, why.sentence),
    ...why.details.flatMap((detail) => hangingIndent(terminal, '  ', detail)),
    // Not wrapped, so that they can be copied.
    ...why.fixes.map((fix) => `  fix:  ${harmless(fix)}`),
  ]
  return `${lines.join('\n')}\n`
}
