import type { Command } from 'commander'
import type { WireJob } from '../../core/job/job-views.ts'
import { hangingIndent } from '../terminal/hanging-indent.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { resolveSchedules, readTarget, schedulePath } from '../find/find-schedule.ts'
import { jobPath } from '../find/find-job.ts'
import { printOne } from '../terminal/output.ts'
import { readWhenText } from '../args/read-when.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { instantIn } from '../render/show-time.ts'

interface PauseOptions {
  readonly queue?: string
  readonly all?: true
  readonly reason?: string
  readonly until?: string | undefined
}

/** Commands `pause` and `resume`. */
export function pauseCommands(program: Command, cli: Cli): void {
  const { terminal } = cli
  for (const paused of [true, false]) {
    const verb = paused ? 'pause' : 'resume'
    const command = program
      .command(verb)
      .description(
        paused
          ? 'pause a job, a schedule, a queue or all queues'
          : 'resume a job, a schedule, a queue or all queues',
      )
      .argument('[job]', 'a job that is defined, or JOB/SCHEDULE')
      .option('--queue <name>', 'a queue')
      .option('--all', 'all queues of the project')
    if (paused) {
      command
        .option(
          '--until <time>',
          "schedules only, and not for ever: 'tomorrow 09:00', 'in 2 hours'",
        )
        .option('--reason <text>', 'the reason, shown to others')
    }
    command.action(async (job: string | undefined, options: PauseOptions, command_: Command) => {
      const calls = cli.calls(command_)
      const until = await untilOf(options, cli)
      const what = await setPaused(calls, job, { ...options, until: until?.time }, paused)
      const pausedText = until ? `is paused until ${until.humanText}` : 'is paused'
      const sentence = `${what} ${paused ? pausedText : 'is resumed'}`
      const humanText = () => `${hangingIndent(terminal, '', sentence).join('\n')}\n`
      const name = job ?? options.queue ?? 'all'
      printOne(terminal, cli.format(command_), { name, paused }, { name, humanText })
    })
  }
}

async function setPaused(
  calls: ServerCalls,
  job: string | undefined,
  options: PauseOptions,
  paused: boolean,
): Promise<string> {
  const { queue, all } = options
  const given = [job, queue, all].filter((one) => one !== undefined)
  if (given.length !== 1) {
    throw new Failure('name one job, or --queue, or --all', { exitCode: EXIT.usage })
  }
  if (job !== undefined) {
    return paused ? pauseJob(calls, job, options) : resumeJob(calls, job)
  }
  if (options.until !== undefined) {
    throw new Failure('--until is for jobs and schedules', { exitCode: EXIT.usage })
  }
  const path = queue === undefined ? '/v1/queues' : `/v1/queues/${encodeURIComponent(queue)}`
  await calls.call('PATCH', path, { paused })
  return queue === undefined ? 'everything' : `the queue ${queue}`
}

/** A job is paused until it is resumed; its schedules can be paused for a while. */
async function pauseJob(
  calls: ServerCalls,
  text: string,
  { reason, until }: PauseOptions,
): Promise<string> {
  const body = reason === undefined ? {} : { reason }
  const { job, schedule } = readTarget(text)
  if (schedule === undefined && until === undefined) {
    await calls.call('POST', `${jobPath(job)}/pause`, body)
    return `the job ${job}`
  }
  const scheduleBody = until === undefined ? body : { ...body, until }
  const schedules = await resolveSchedules(calls, text)
  for (const one of schedules) await calls.call('POST', `${schedulePath(one)}/pause`, scheduleBody)
  return named(schedules.map(({ name }) => `${job}/${name}`))
}

/** Resumes the job if it is paused, otherwise its paused schedules. */
async function resumeJob(calls: ServerCalls, text: string): Promise<string> {
  const { job, schedule } = readTarget(text)
  if (schedule === undefined) {
    const shown = await calls.call<WireJob>('GET', jobPath(job))
    const pausedSchedules = (shown.schedules ?? []).filter(({ paused }) => paused && !paused.by_job)
    if (shown.paused || pausedSchedules.length === 0) {
      await calls.call('POST', `${jobPath(job)}/resume`)
      return `the job ${job}`
    }
    for (const one of pausedSchedules) await calls.call('POST', `${schedulePath(one)}/resume`)
    return named(pausedSchedules.map(({ name }) => `${job}/${name}`))
  }
  await calls.call('POST', `${schedulePath({ job, name: schedule })}/resume`)
  return `the schedule ${text}`
}

function named(schedules: readonly string[]): string {
  return schedules.length === 1 ? `the schedule ${schedules[0]}` : `each of ${schedules.join(', ')}`
}

async function untilOf({ until }: PauseOptions, { terminal }: Cli) {
  if (until === undefined) return undefined
  const time = await readWhenText(until, terminal, '--until')
  return { time, humanText: instantIn(time, terminal.zone, terminal.now()) }
}
