import type { Command } from 'commander'
import type { WireQueue, WireWorker } from '../../core/views.ts'
import type { Cli } from '../cli.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import type { ServerCalls } from '../server-calls.ts'
import { harmless, paint } from '../terminal.ts'

/** doctor and completion. */
export function helpingCommands(program: Command, cli: Cli): void {
  const { terminal } = cli

  program
    .command('doctor')
    .description('look for what is wrong, and say what to do about it')
    .action(async (_options: object, command: Command) => {
      const findings = await examine(cli.calls(command), terminal.now())
      for (const { isGood, what, advice } of findings) {
        const mark = isGood ? paint(terminal, 'green', '✔') : paint(terminal, 'red', '✖')
        terminal.out(`${mark} ${harmless(what)}\n`)
        if (!isGood && advice) terminal.out(`    ${advice}\n`)
      }
      if (findings.some(({ isGood }) => !isGood)) cli.exitWith(EXIT.unexpected)
    })

  program
    .command('completion')
    .description('print what makes a shell complete this command')
    .argument('<shell>', 'bash, zsh or fish')
    .action((shell: string) => {
      const names = program.commands.map((command) => command.name())
      terminal.out(completionFor(shell, names))
    })
}

interface Finding {
  readonly isGood: boolean
  readonly what: string
  readonly advice?: string
}

const MOST_SKEW_MS = 5_000

async function examine(calls: ServerCalls, now: number): Promise<Finding[]> {
  const reach = await attempt(() => calls.health(), `the server at ${calls.url} answers`)
  if (!reach.value) return [{ ...reach.finding, advice: 'Start one with `punctual up`.' }]
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
  return [...findings, token.finding, ...(await examineWork(calls))]
}

async function examineWork(calls: ServerCalls): Promise<Finding[]> {
  const { data: workers } = await calls.call<{ data: WireWorker[] }>('GET', '/v1/workers')
  const { data: queues } = await calls.call<{ data: WireQueue[] }>('GET', '/v1/queues')
  const slots = workers.reduce((sum, worker) => sum + worker.slots, 0)
  const unserved = queues.filter(({ ready, workers: serving }) => ready > 0 && serving === 0)
  const paused = queues.filter((queue) => queue.paused)
  return [
    {
      isGood: workers.length > 0,
      what: `${workers.length} workers with ${slots} slots are connected`,
      advice: 'Start one with `punctual worker`.',
    },
    ...unserved.map(({ name, ready }) => ({
      isGood: false,
      what: `${ready} runs wait in the queue ${name}, which no worker serves`,
      advice: `punctual worker --queue ${name}`,
    })),
    ...paused.map(({ name }) => ({
      isGood: false,
      what: `the queue ${name} is paused`,
      advice: `punctual resume --queue ${name}`,
    })),
  ]
}

async function attempt<T>(call: () => Promise<T>, what: string) {
  try {
    return { value: await call(), finding: { isGood: true, what } }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    return { value: undefined, finding: { isGood: false, what: said } }
  }
}

function completionFor(shell: string, names: readonly string[]): string {
  const words = names.join(' ')
  switch (shell) {
    case 'bash':
      return `_punctual() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W '${words}' -- "$word"))
  else COMPREPLY=($(compgen -W "$(_punctual_values "\${COMP_WORDS[1]}")" -- "$word")); fi
}
${VALUES}
complete -F _punctual punctual
`
    case 'zsh':
      return `#compdef punctual
_punctual() {
  if (( CURRENT == 2 )); then compadd ${words}
  else compadd -- $(_punctual_values "$words[2]"); fi
}
${VALUES}
compdef _punctual punctual
`
    case 'fish':
      return names
        .map((name) => `complete -c punctual -n __fish_use_subcommand -f -a ${name}\n`)
        .join('')
    default:
      throw new Failure(`no completion for "${shell}"`, {
        exitCode: EXIT.usage,
        hint: 'There is one for bash, zsh and fish.',
      })
  }
}

/** Runs and jobs by name, as the server has them now. */
const VALUES = `_punctual_values() {
  case $1 in
    run|pause|resume) punctual ls -o name 2>/dev/null ;;
    show|logs|why|wait|cancel|retry) echo @last @last-failed; punctual runs -n 20 -o name 2>/dev/null ;;
  esac
}`
