import type { Command } from 'commander'
import type { WirePage } from '../../core/wire/views.ts'
import type { WireJob } from '../../core/job/job-views.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath } from '../find/find-job.ts'
import { printList } from '../terminal/output.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import type { Terminal } from '../terminal/terminal.ts'

const POLL_MS = 500

interface Removed {
  readonly name: string
  readonly deleted: true
}

/** Command `rm`: deletes jobs. */
export function jobCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('rm')
    .description('delete jobs and their schedules; their runs can still be read')
    .argument('<job...>', 'jobs that are defined')
    .option('--cancel', 'cancel their runs first; without it, a job with active runs is kept')
    .action(async (names: string[], { cancel }: { cancel?: true }, command: Command) => {
      const calls = cli.calls(command)
      const done: Removed[] = []
      const humanText: string[] = []
      try {
        for (const name of names) {
          humanText.push(await remove(calls, terminal, name, cancel === true))
          done.push({ name, deleted: true })
        }
      } finally {
        const format = cli.format(command)
        if (format === 'table') terminal.out(humanText.join(''))
        else
          printList(terminal, format, done, { nameOf: ({ name }) => name, columns: [], empty: '' })
      }
    })
}

async function remove(
  calls: ServerCalls,
  terminal: Terminal,
  name: string,
  cancels: boolean,
): Promise<string> {
  if (name.includes('/')) {
    throw new Failure(`"${name}" is a schedule of a job`, {
      exitCode: EXIT.usage,
      next: `punctual schedules rm ${name}`,
    })
  }
  const { schedules = [] } = await calls.call<WireJob>('GET', jobPath(name))
  for (let isAnnounced = false; ; isAnnounced = true) {
    try {
      await calls.call('DELETE', jobPath(name))
      break
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'job_is_live') throw error
      if (!cancels) throw stillLive(name)
    }
    const live = await cancelLive(calls, name)
    if (!isAnnounced) terminal.err(`cancelling ${live} of ${name} …\n`)
    await terminal.sleep(POLL_MS)
  }
  const those = schedules.length === 1 ? 'its schedule' : `its ${schedules.length} schedules`
  return `the job ${name} is deleted${schedules.length === 0 ? '' : `, with ${those}`}\n`
}

/** Cancels runs that were asked to stop before, too: that is cheap, and new ones may have come. */
async function cancelLive(calls: ServerCalls, job: string): Promise<string> {
  const query = new URLSearchParams({ limit: '500', job, q: 'state:live' })
  const { data } = await calls.call<WirePage<WireRun>>('GET', `/v1/runs?${query.toString()}`)
  for (const { id, cancelling } of data) {
    if (cancelling) continue
    try {
      await calls.call('POST', `/v1/runs/${id}/cancel`)
    } catch (error) {
      // The run ended meanwhile.
      if (!(error instanceof Failure) || error.exitCode !== EXIT.conflict) throw error
    }
  }
  return data.length === 1 ? '1 run' : `${data.length} runs`
}

function stillLive(name: string): Failure {
  return new Failure(`${name} has runs that wait or run`, {
    exitCode: EXIT.conflict,
    code: 'job_is_live',
    hint: `punctual runs job:${name} state:live lists them.`,
    next: `punctual rm ${name} --cancel`,
  })
}
