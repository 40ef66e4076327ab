import { Argument, type Command } from 'commander'
import type { WireQueue, WireStorage, WireWorker } from '../../core/wire/views.ts'
import { hangingIndent } from '../terminal/hanging-indent.ts'
import { formatSize } from '../../core/text/size.ts'
import type { Cli } from './cli.ts'
import { completionFor, type Shell, SHELLS } from './completion-script.ts'
import { describeExecution, describeRoot } from '../render/describe-execution.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { printList, type Show } from '../terminal/output.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'

/** Commands `doctor` and `completion`. */
export function doctorCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('doctor')
    .description('check the installation and suggest fixes')
    .action(async (_options: object, command: Command) => {
      const findings = await examine(cli.calls(command), terminal.now())
      const format = cli.format(command)
      if (format === 'table') terminal.out(findings.map((one) => describe(terminal, one)).join(''))
      else printList(terminal, format, findings.map(forPrograms), FINDINGS)
      if (findings.some(({ isGood }) => !isGood)) cli.exitWith(EXIT.unexpected)
    })

  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'the shell it is for').choices(SHELLS))
    .addHelpText('after', HOW_TO_COMPLETE)
    .action((shell: Shell) => terminal.out(completionFor(shell, program)))
}

const HOW_TO_COMPLETE = `
Now, in bash:    source <(punctual completion bash)
Always, bash:    punctual completion bash > ~/.local/share/bash-completion/completions/punctual
Always, zsh:     punctual completion zsh > "\${fpath[1]}/_punctual"
Always, fish:    punctual completion fish > ~/.config/fish/completions/punctual.fish`

interface Finding {
  readonly isGood: boolean
  /** Works, but needs attention. */
  readonly isWarning?: boolean
  readonly what: string
  readonly advice?: string
}

interface WireFinding {
  readonly good: boolean
  readonly what: string
  readonly advice: string | null
}

const FINDINGS: Show<WireFinding> = { columns: [], nameOf: ({ what }) => what, empty: '' }

function forPrograms({ isGood, isWarning, what, advice }: Finding): WireFinding {
  return { good: isGood, what, advice: isGood && !isWarning ? null : (advice ?? null) }
}

function describe(terminal: Terminal, { isGood, isWarning, what, advice }: Finding): string {
  const good = isWarning ? paint(terminal, 'yellow', '!') : paint(terminal, 'green', '✔')
  const mark = isGood ? good : paint(terminal, 'red', '✖')
  const lines = hangingIndent(terminal, `${mark} `, what)
  // Not wrapped, so that it can be copied.
  const help = (isGood && !isWarning) || !advice ? [] : [`  help:  ${harmless(advice)}`]
  return [...lines, ...help, ''].join('\n')
}

const MOST_SKEW_MS = 5_000

async function examine(calls: ServerCalls, now: number): Promise<Finding[]> {
  const reach = await attempt(() => calls.health(), `the server at ${calls.url} answers`)
  if (!reach.value) return [reach.finding]
  const { isReady, reason, at, clock } = reach.value
  const skewMs = at === null ? 0 : Math.abs(now - at)
  const findings: Finding[] = [
    reach.finding,
    isReady
      ? { isGood: true, what: 'its database answers' }
      : { isGood: false, what: `it is not ready: ${reason}`, advice: NOT_READY },
    {
      isGood: skewMs <= MOST_SKEW_MS,
      what: `its clock is ${(skewMs / 1_000).toFixed(0)} s from ours`,
      advice: 'Runs are not affected, but durations and ages in tables are wrong.',
    },
    ...(clock === null ? [] : [describeClock(clock)]),
  ]
  const token = await attempt(() => calls.call('GET', '/v1/runs?limit=1'), 'it accepts the token')
  // While the database is away, tokens cannot be checked.
  if (!token.value) return isReady || token.isRefused ? [...findings, token.finding] : findings
  const storage = await examineStorage(calls)
  return [...findings, token.finding, ...storage, ...(await examineWork(calls))]
}

const NOT_READY = 'Look at the log of the server, and whether its database runs and has free space.'

/** Schedules on hold are a problem; a waiting deletion is only worth knowing. */
function describeClock({ held, reason }: { held: boolean; reason: string }): Finding {
  return { isGood: !held, isWarning: !held, what: reason, advice: CHECK_CLOCK }
}

const CHECK_CLOCK =
  'Check the clock of the server’s machine, or of its database: timedatectl status'

/** Only for tokens of the installation: holders of project tokens cannot fix the storage. */
async function examineStorage(calls: ServerCalls): Promise<Finding[]> {
  const found = await attempt(() => calls.call<WireStorage>('GET', '/v1/storage'), '')
  if (!found.value) return []
  const { kind, place, writable, reason } = found.value.blobs
  const store = found.value.store as WireStorage['store'] | undefined
  const where = kind === 'fs' ? `in ${place}` : `as ${place}`
  return [
    ...(store ? [examineStore(store)] : []),
    {
      isGood: writable,
      what: writable
        ? `large inputs and results are kept ${where}`
        : `large inputs and results cannot be kept ${where}: ${reason}`,
      advice: `Free some space and make it writable: ${place}`,
    },
  ]
}

const LITTLE_BYTES = 100 * 1024 * 1024

/** A node of an older version reports nothing about its store. */
function examineStore({
  place,
  writable,
  reason,
  free_bytes: free,
}: WireStorage['store']): Finding {
  const freeText = free === null ? '' : `, with ${formatSize(free)} free`
  if (!writable) {
    const advice = `See what is wrong there, and docs/how-to/back-up.md: ${place}`
    return { isGood: false, what: `the database cannot be written: ${reason}`, advice }
  }
  const isLow = free !== null && free < LITTLE_BYTES
  return {
    isGood: true,
    what: `the database is in ${place}${freeText}`,
    ...(isLow && { isWarning: true, advice: 'Free some space: a full disk stops the server.' }),
  }
}

async function examineWork(calls: ServerCalls): Promise<Finding[]> {
  const { data: workers } = await calls.call<{ data: WireWorker[] }>('GET', '/v1/workers')
  const { data: queues } = await calls.call<{ data: WireQueue[] }>('GET', '/v1/queues')
  const unserved = queues.filter(({ ready, workers: serving }) => ready > 0 && serving === 0)
  const paused = queues.filter((queue) => queue.paused)
  const root = describeRoot(workers)
  return [
    {
      isGood: workers.length > 0,
      what: describeWorkers(workers),
      advice: 'Start one with `punctual worker`.',
    },
    ...describeExecution(workers).map((what) => ({ isGood: true, what })),
    ...(root === undefined ? [] : [{ isGood: true, isWarning: true, what: root, advice: NO_ROOT }]),
    ...unserved.map(({ name, ready }) => ({
      isGood: false,
      what: `${ready === 1 ? '1 run waits' : `${ready} runs wait`} in the queue ${name}, which no worker serves`,
      advice: `punctual worker --queue ${name}`,
    })),
    ...paused.map(({ name }) => ({
      isGood: false,
      what: `the queue ${name} is paused`,
      advice: `punctual resume --queue ${name}`,
    })),
  ]
}

const NO_ROOT = 'Start it as another user, use --run-as USER, or pass --allow-root.'

function describeWorkers(workers: readonly WireWorker[]): string {
  if (workers.length === 0) return 'no worker is connected'
  const slots = workers.reduce((sum, worker) => sum + worker.slots, 0)
  const connected = workers.length === 1 ? '1 worker is' : `${workers.length} workers are`
  return `${connected} connected, with ${slots} slots`
}

async function attempt<T>(call: () => Promise<T>, what: string) {
  try {
    return { value: await call(), isRefused: false, finding: { isGood: true, what } }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    const advice = error instanceof Failure ? error.hint : undefined
    const finding: Finding = { isGood: false, what: said, ...(advice && { advice }) }
    const isRefused = error instanceof Failure && error.exitCode === EXIT.forbidden
    return { value: undefined, isRefused, finding }
  }
}
