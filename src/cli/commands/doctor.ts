import { Argument, type Command } from 'commander'
import type { WireQueue, WireStorage, WireWorker } from '../../core/wire/views.ts'
import { beside } from '../terminal/hanging-indent.ts'
import type { Cli } from './cli.ts'
import { completionFor, type Shell, SHELLS } from './completion-script.ts'
import { describeExecution, describeRoot } from '../render/describe-execution.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { printList, type Show } from '../terminal/output.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'

/** doctor and completion. */
export function helpingCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('doctor')
    .description('look for what is wrong, and say what to do about it')
    .action(async (_options: object, command: Command) => {
      const findings = await examine(cli.calls(command), terminal.now())
      const format = cli.format(command)
      if (format === 'table') terminal.out(findings.map((one) => describe(terminal, one)).join(''))
      else printList(terminal, format, findings.map(forPrograms), FINDINGS)
      if (findings.some(({ isGood }) => !isGood)) cli.exitWith(EXIT.unexpected)
    })

  program
    .command('completion')
    .description('print what makes a shell complete this command')
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
  /** Well enough, but somebody should know. */
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
  const lines = beside(terminal, `${mark} `, what)
  // Whole, so that it can be copied.
  const help = (isGood && !isWarning) || !advice ? [] : [`  help:  ${harmless(advice)}`]
  return [...lines, ...help, ''].join('\n')
}

const MOST_SKEW_MS = 5_000

async function examine(calls: ServerCalls, now: number): Promise<Finding[]> {
  const reach = await attempt(() => calls.health(), `the server at ${calls.url} answers`)
  if (!reach.value) return [reach.finding]
  const { isReady, reason, at } = reach.value
  const skewMs = at === null ? 0 : Math.abs(now - at)
  const findings: Finding[] = [
    reach.finding,
    { isGood: isReady, what: isReady ? 'its database answers' : `it is not ready: ${reason}` },
    {
      isGood: skewMs <= MOST_SKEW_MS,
      what: `its clock is ${(skewMs / 1_000).toFixed(0)} s from ours`,
      advice: 'Nothing depends on it, but times will look odd.',
    },
  ]
  const token = await attempt(() => calls.call('GET', '/v1/runs?limit=1'), 'the token opens it')
  if (!token.value) {
    const advice = 'Give one with --token or PUNCTUAL_TOKEN; `punctual token create` makes them.'
    return [...findings, { ...token.finding, advice }]
  }
  const storage = await examineStorage(calls)
  return [...findings, token.finding, ...storage, ...(await examineWork(calls))]
}

/** Told only to tokens of the installation; those of a project can do nothing about it. */
async function examineStorage(calls: ServerCalls): Promise<Finding[]> {
  const found = await attempt(() => calls.call<WireStorage>('GET', '/v1/storage'), '')
  if (!found.value) return []
  const { kind, place, writable, reason } = found.value.blobs
  const where = kind === 'fs' ? `in ${place}` : `as ${place}`
  return [
    {
      isGood: writable,
      what: writable
        ? `large inputs and results are kept ${where}`
        : `large inputs and results cannot be kept ${where}: ${reason}`,
      advice: `Make room and make it writable: ${place}`,
    },
  ]
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

const NO_ROOT = 'Start it as another user, use --run-as USER, or say --allow-root.'

function describeWorkers(workers: readonly WireWorker[]): string {
  if (workers.length === 0) return 'no worker is connected'
  const slots = workers.reduce((sum, worker) => sum + worker.slots, 0)
  const connected = workers.length === 1 ? '1 worker is' : `${workers.length} workers are`
  return `${connected} connected, with ${slots} slots`
}

async function attempt<T>(call: () => Promise<T>, what: string) {
  try {
    return { value: await call(), finding: { isGood: true, what } }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    const advice = error instanceof Failure ? error.hint : undefined
    return { value: undefined, finding: { isGood: false, what: said, ...(advice && { advice }) } }
  }
}
