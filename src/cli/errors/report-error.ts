import { CommanderError } from 'commander'
import { PunctualError } from '../../core/errors.ts'
import type { Problem } from '../../core/wire/runs.ts'
import { beside } from '../terminal/hanging-indent.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { Failure } from './failure.ts'
import { paint, type Terminal } from '../terminal/terminal.ts'

/** What went wrong, in whichever words its finder has. */
interface Trouble {
  readonly exitCode: number
  /** A sentence, or one for each thing that is wrong. */
  readonly lines: readonly string[]
  readonly help?: string | undefined
  readonly next?: string | undefined
  readonly code: string
  readonly problem?: Problem | undefined
}

/** Says what went wrong, to a person or to a program. Returns the code for the shell. */
export function tell(
  error: unknown,
  terminal: Terminal,
  { command, isForPrograms }: { command: string; isForPrograms: boolean },
): number {
  // Somebody asked for help or the version, and has it.
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
  // Help that was not asked for was shown instead of an error.
  if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage
  const trouble = troubleOf(error, command)
  if (isForPrograms) terminal.err(`${JSON.stringify(asProblem(trouble))}\n`)
  else terminal.err(asText(terminal, trouble))
  return trouble.exitCode
}

function troubleOf(error: unknown, command: string): Trouble {
  if (error instanceof Failure) {
    const { exitCode, code, message, hint, next, problem } = error
    return { exitCode, code, lines: [message], help: hint, next, problem }
  }
  if (error instanceof CommanderError) return ofUsage(error, command)
  if (error instanceof PunctualError) {
    const { code, message, hint, status } = error
    const exitCode = code === 'config_invalid' ? EXIT.config : exitCodeOf(status)
    return { exitCode, lines: message.split('\n'), help: hint, code }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { exitCode: EXIT.unexpected, lines: [message], code: 'unexpected' }
}

/** `error: unknown command 'cancle'` and, in a second line, what was meant. */
function ofUsage({ message }: CommanderError, command: string): Trouble {
  const [what = '', meant] = message.split('\n')
  const help = meant?.replace(/^\((.*)\)$/, '$1') ?? `${command} --help says how it is used.`
  return { exitCode: EXIT.usage, lines: [what.replace(/^error: /, '')], help, code: 'usage' }
}

function asProblem({ problem, code, lines, help, next }: Trouble): object {
  if (problem) return problem
  const title = code.charAt(0).toUpperCase() + code.slice(1).replaceAll('_', ' ')
  return { type: 'about:blank', title, code, detail: lines.join('\n'), hint: help ?? next ?? '' }
}

/** What happened, what to do about it, and a word to look it up by. */
function asText(terminal: Terminal, trouble: Trouble): string {
  const { exitCode, lines, help, next, code } = trouble
  // Somebody left as they wished: nothing is wrong, and there is nothing to look up.
  const isFine = exitCode === EXIT.interrupted
  const mark = isFine ? paint(terminal, 'blue', '▶ ') : paint(terminal, 'red', '✖ ')
  const label = (name: string) => `  ${paint(terminal, 'bold', name)}  `
  const said = [
    ...lines.flatMap((line) => beside(terminal, mark, line)),
    ...(help ? beside(terminal, label('help:'), help) : []),
    // Whole, so that it can be copied.
    ...(next ? [label('next:') + next] : []),
    ...(isFine ? [] : [paint(terminal, 'grey', `  code:  ${code}`)]),
  ]
  return `${said.join('\n')}\n`
}
