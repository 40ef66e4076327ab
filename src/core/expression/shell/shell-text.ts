import type { Names } from '../check.ts'
import type { Expression } from '../expression.ts'
import { shortened, expressionError } from '../expression-error.ts'
import { DEFAULT_SHELL } from '../../work/work.ts'
import { readText } from '../read-template.ts'
import type { ShellPlace } from './shell-frames.ts'
import { createShellQuotes, UNTRACKED_TEXT } from './shell-quotes.ts'
import { createShellWarnings, type ValueWarning } from './shell-warnings.ts'

/** Shell text in which variables replace the expressions. */
export interface ShellText {
  readonly text: string
  readonly variables: readonly (readonly [name: string, value: Expression])[]
  /** Places where a value may reach a program that executes it, as far as the check can detect them. */
  readonly warnings: readonly ValueWarning[]
}

/** Prefix of the variable names, followed by a number from 1. */
export const VARIABLE_PREFIX = 'PUNCTUAL_EXPR_'

/**
 * Replaces each expression with a quoted variable. The value is passed in the environment: the shell expands it to
 * one word, or a part of one, and never parses it. The commands of the text may still interpret that word: a use that
 * is known to be dangerous is rejected, and a possibly dangerous one causes a warning.
 */
export function readShellText(
  text: string,
  names: Names,
  field: string,
  shell = DEFAULT_SHELL,
): ShellText {
  const warnings = createShellWarnings(text, field)
  const quotes = createShellQuotes(shell, warnings.onCommand)
  const variables: (readonly [string, Expression])[] = []
  let written = ''
  let last: Expression | undefined
  let lastAt = 0
  let readTo = 0
  const refuse = (why: string | undefined) => {
    if (why !== undefined && last) {
      const hint = why.includes('name of a command') ? NAMED : IN_ENV
      const more = why.includes('calculate') ? `${hint} ${CHECKED}` : hint
      const range = { at: lastAt, length: last.text.length }
      throw expressionError(last.field, `${shortened(last.text)} ${why}`, more, range)
    }
  }
  for (const part of readText(text, names, field)) {
    if (typeof part === 'string') {
      written += part
      warnings.literal(part)
      quotes.read(part)
      refuse(quotes.lateRisk)
      continue
    }
    last = part
    lastAt = text.indexOf(part.text, readTo)
    readTo = lastAt + part.text.length
    refuse(quotes.isEscaped ? 'stands behind a \\' : (REFUSED[quotes.place] ?? quotes.risk))
    const name = `${VARIABLE_PREFIX}${variables.length + 1}`
    variables.push([name, part])
    written += quotes.place === 'bare' ? `"\${${name}}"` : `\${${name}}`
    warnings.value(part.text)
    quotes.value()
  }
  quotes.end()
  refuse(quotes.lateRisk)
  const isFree = variables.length === 0
  return { text: written, variables, warnings: isFree ? [] : warnings.all(quotes.untrackedFrom) }
}

/** The same warnings for a text that receives values in variables or on its input. */
export function warningsIn(text: string, field: string, shell = DEFAULT_SHELL): ValueWarning[] {
  const warnings = createShellWarnings(text, field)
  const quotes = createShellQuotes(shell, warnings.onCommand)
  warnings.literal(text)
  quotes.read(text)
  quotes.end()
  return warnings.all(quotes.untrackedFrom)
}

const IN_ENV = 'Put it into `env` and use that variable here.'
const NAMED = 'Write the command name in the text; use `case` to choose between several.'
const CHECKED = 'Check that it is a number before using it in arithmetic.'

const REFUSED: Partial<Record<ShellPlace, string>> = {
  single: 'is in single quotes, where a shell expands nothing',
  'raw-here': 'is in a here-document with a quoted delimiter, where a shell expands nothing',
  program: 'is in a here-document that a shell reads as a program',
  sum: 'is in (( )), where a shell evaluates it as arithmetic, including commands in the value',
  parameter: 'is in ${ }, where a shell evaluates it or reads it as a name',
  lost: UNTRACKED_TEXT,
}

/** An argument that an interpreter reads as its program cannot receive a value safely. */
export function refuseInProgram(program: string, field: string): Error {
  const message = `an expression is not allowed in a program for ${program}, which would execute its value`
  return expressionError(field, message, 'Pass it as an argument after the program, or in `env`.')
}

/** A shell gets values in variables; behind a program that may not pass its environment on they would be empty. */
export function refuseWithoutVariables(shell: string, field: string): Error {
  const message = `an expression is not allowed in a program for ${shell} that another program starts, because that program may not pass on the variable with its value`
  return expressionError(
    field,
    message,
    `Pass it as an argument after the program: \`${shell} -c '… "$1"' _ \${{ … }}\`.`,
  )
}

export function refuseAsProgram(field: string): Error {
  const message =
    'an expression is not allowed in the name of a program: its value would decide what is run'
  return expressionError(
    field,
    message,
    'Write the name; use `run` and `case` to choose between several.',
  )
}

/** Variables that shells execute or evaluate as arithmetic. */
export function refuseInVariable(name: string, field: string): Error {
  const message = `an expression is not allowed in ${name}, which a shell executes`
  return expressionError(field, message, 'Choose another variable name and use it in the text.')
}

/**
 * In a text for an interpreter that is not a shell, an expression would have to be inserted as source text, which is
 * not allowed.
 */
export function refuseForeignText(program: string, field: string): Error {
  const message = `${program} is not a known shell, so expressions are not allowed in its text`
  return expressionError(field, message, 'Put them into `env`, and read the variables there.')
}
