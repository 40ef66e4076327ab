import { CommanderError } from 'commander'
import { PunctualError } from '../../core/errors.ts'
import type { WireProblem } from '../../core/wire/runs.ts'
import { hangingIndent } from '../terminal/hanging-indent.ts'
import { type CalledCommand, toCliTerms } from './cli-terms.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { Failure, hintFor } from './failure.ts'
import { explainSystemError } from './system-error.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'

/** An error, ready to be printed. */
interface ErrorReport {
  readonly exitCode: number
  /** A sentence, or one for each problem. */
  readonly lines: readonly string[]
  /** The items the message is about, printed below it. */
  readonly list?: readonly string[]
  readonly help?: string | undefined
  readonly next?: string | undefined
  readonly code: string
  readonly problem?: WireProblem | undefined
}

/** Prints an error, for people or for programs. Returns the exit code. */
export function reportError(
  error: unknown,
  terminal: Terminal,
  { isForPrograms, ...called }: CalledCommand & { readonly isForPrograms: boolean },
): number {
  // Requested help or version: it was printed already.
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
  // Help was printed instead of an error.
  if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage
  const report = errorReportOf(error, called)
  if (isForPrograms) terminal.err(`${JSON.stringify(asProblem(report))}\n`)
  else terminal.err(asText(terminal, report))
  return report.exitCode
}

/** The text and exit code of `reportError`, for callers with another format. */
export function explainFailure(error: unknown): {
  readonly exitCode: number
  readonly lines: readonly string[]
  readonly hint: string | undefined
} {
  const { exitCode, lines, help } = errorReportOf(error, { command: '', flags: [], given: [] })
  return { exitCode, lines, hint: help }
}

function errorReportOf(error: unknown, called: CalledCommand): ErrorReport {
  if (error instanceof Failure) {
    const { exitCode, code, list, hint, next, problem } = error
    const text = { code, hint, message: error.message, field: problem?.field }
    const { message, hint: help } = problem ? toCliTerms(text, called) : text
    return { exitCode, code, lines: [message], list, help, next, problem }
  }
  if (error instanceof CommanderError) return ofUsage(error, called.command)
  if (error instanceof PunctualError) {
    const { code, status } = error
    const isSetting = code === 'config_invalid'
    // Settings have the same names in flags, variables and the settings file.
    const { message, hint } = isSetting ? error : toCliTerms(error, called)
    const exitCode = isSetting ? EXIT.config : exitCodeOf(status)
    return { exitCode, lines: message.split('\n'), help: hintFor(code) ?? hint, code }
  }
  const system = explainSystemError(error)
  const message = error instanceof Error ? error.message : String(error)
  const lines = [system?.message ?? message]
  return { exitCode: EXIT.unexpected, lines, help: system?.hint, code: 'unexpected' }
}

/** `error: unknown command 'cancle'`, with the suggestion in a second line. */
function ofUsage({ message }: CommanderError, command: string): ErrorReport {
  const [what = '', meant] = message.split('\n')
  const help = meant?.replace(/^\((.*)\)$/, '$1') ?? `${command} --help says how it is used.`
  return { exitCode: EXIT.usage, lines: [what.replace(/^error: /, '')], help, code: 'usage' }
}

function asProblem({ problem, code, lines, list = [], help, next }: ErrorReport): object {
  if (problem) return problem
  const title = code.charAt(0).toUpperCase() + code.slice(1).replaceAll('_', ' ')
  const detail = [...lines, ...list].join('\n')
  return { type: 'about:blank', title, code, detail, hint: help ?? next ?? '' }
}

/** The message, the hint, and the error code. */
function asText(terminal: Terminal, report: ErrorReport): string {
  const { exitCode, lines, list = [], help, next, code } = report
  // The user interrupted the command: there is no error to explain.
  const isInterrupt = exitCode === EXIT.interrupted
  const mark = isInterrupt ? paint(terminal, 'blue', '▶ ') : paint(terminal, 'red', '✖ ')
  const label = (name: string) => `  ${paint(terminal, 'bold', name)}  `
  const text = [
    ...lines.flatMap((line) => hangingIndent(terminal, mark, line)),
    // Not wrapped, so that it can be copied.
    ...list.map((line) => `  ${harmless(line)}`),
    ...(help ? hangingIndent(terminal, label('help:'), help) : []),
    // Not wrapped, so that it can be copied.
    ...(next ? [label('next:') + next] : []),
    ...(isInterrupt ? [] : [paint(terminal, 'grey', `  code:  ${code}`)]),
  ]
  return `${text.join('\n')}\n`
}
