import type { Command } from 'commander'
import { formatDuration } from '../../core/text/duration.ts'
import { formatRate, parseRate } from '../../core/queue/rate.ts'
import type { WireQueue } from '../../core/wire/views.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { printList, printOne, type Show } from '../terminal/output.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'

interface SetOptions {
  readonly rate?: string
  readonly burst?: string
  readonly defaultTimeout?: string
  readonly maxTimeout?: string
}

/** The value that removes a limit. */
const NONE = 'none'

/** Commands `queue ls` and `queue set`; `pause --queue` pauses a queue. */
export function queueCommands(program: Command, cli: Cli): void {
  const { terminal } = cli
  const queue = program.command('queue').description('list queues and set their limits')

  queue
    .command('ls')
    .description('list queues')
    .action(async (_options: object, command: Command) => {
      const { data } = await cli.calls(command).call<{ data: WireQueue[] }>('GET', '/v1/queues')
      printList(terminal, cli.format(command), data, queuesOf(terminal))
    })

  queue
    .command('set')
    .description('set limits of a queue; limits that are not named stay unchanged')
    .argument('<name>', 'the queue')
    .option('--rate <rate>', 'how often attempts may start, such as 100/1m; none for no limit')
    .option('--burst <count>', 'with --rate, how many may start at once')
    .option('--default-timeout <duration>', 'for runs that ask for none; none for no limit')
    .option('--max-timeout <duration>', 'the maximum for every run; none for no limit')
    .action(async (name: string, options: SetOptions, command: Command) => {
      const path = `/v1/queues/${encodeURIComponent(name)}`
      const set = await cli.calls(command).call<WireQueue>('PATCH', path, changeOf(options))
      const humanText = () => `${describe(set).join('\n')}\n`
      printOne(terminal, cli.format(command), set, { name, humanText })
    })
}

function changeOf(options: SetOptions): object {
  const { rate, burst, defaultTimeout, maxTimeout } = options
  if (burst !== undefined && (rate === undefined || rate === NONE)) {
    throw new Failure('--burst requires --rate', { exitCode: EXIT.usage })
  }
  const change = {
    ...(rate === undefined ? {} : { rate: rate === NONE ? null : rateOf(rate, burst) }),
    ...(defaultTimeout === undefined ? {} : { default_timeout: orNone(defaultTimeout) }),
    ...(maxTimeout === undefined ? {} : { max_timeout: orNone(maxTimeout) }),
  }
  if (Object.keys(change).length > 0) return change
  throw new Failure('name a limit: --rate, --default-timeout or --max-timeout', {
    exitCode: EXIT.usage,
  })
}

function rateOf(rate: string, burst: string | undefined): object {
  if (burst === undefined) return parseRate(rate, '--rate')
  if (!/^[1-9]\d{0,6}$/.test(burst)) {
    throw new Failure(`--burst is "${burst}" and not a whole number from 1 on`, {
      exitCode: EXIT.usage,
    })
  }
  return { ...parseRate(rate, '--rate'), burst: Number(burst) }
}

function orNone(duration: string): string | null {
  return duration === NONE ? null : duration
}

function describe(queue: WireQueue): string[] {
  return [
    `the queue ${queue.name}`,
    `  rate             ${rateText(queue)}`,
    `  default timeout  ${durationText(queue.default_timeout_ms)}`,
    `  max timeout      ${durationText(queue.max_timeout_ms)}`,
  ]
}

function rateText({ rate }: WireQueue): string {
  if (rate === null) return 'no limit'
  const { limit, per_ms: perMs, burst } = rate
  return `${formatRate({ limit, perMs })}, ${burst} at once`
}

function durationText(ms: number | null): string {
  return ms === null ? 'no limit' : formatDuration(ms)
}

function queuesOf(terminal: Terminal): Show<WireQueue> {
  return {
    nameOf: ({ name }) => name,
    empty: 'No queues yet. A queue is created when a run or a worker names it.',
    columns: [
      { title: 'QUEUE', show: ({ name }) => harmless(name), shrinks: true },
      {
        title: 'STATE',
        show: ({ paused }) => (paused ? paint(terminal, 'yellow', 'paused') : 'on'),
      },
      { title: 'READY', show: ({ ready }) => String(ready) },
      { title: 'WORKERS', show: ({ workers }) => String(workers) },
      { title: 'RATE', show: rateText },
      { title: 'MAX TIMEOUT', show: ({ max_timeout_ms: ms }) => durationText(ms) },
    ],
  }
}
