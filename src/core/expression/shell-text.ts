import type { Names } from './check.ts'
import type { Expression } from './expression.ts'
import { shown, wrongExpression } from './problem.ts'
import { createShellQuotes, type ShellPlace } from './shell-quotes.ts'
import { readText } from './read-template.ts'

/** A text for a shell in which variables stand for the expressions. */
export interface ShellText {
  readonly text: string
  readonly variables: readonly (readonly [name: string, value: Expression])[]
}

/** What the variables are called, followed by a number from 1. */
export const VARIABLE_PREFIX = 'PUNCTUAL_EXPR_'

const SHELLS = /(?:^|\/)(?:sh|ash|dash|bash|ksh|mksh|zsh)$/

/** Whether a program reads its text as a POSIX shell does. */
export function isShell(program: string): boolean {
  return SHELLS.test(program)
}

/**
 * Puts a quoted variable where each expression stands. The value goes there by the environment and is
 * never part of the text, so that nothing in it can be taken for a command.
 */
export function readShellText(text: string, names: Names, field: string): ShellText {
  const quotes = createShellQuotes()
  const variables: (readonly [string, Expression])[] = []
  let written = ''
  for (const part of readText(text, names, field)) {
    if (typeof part === 'string') {
      written += part
      quotes.read(part)
      continue
    }
    refusePlace(quotes.isEscaped ? 'escaped' : quotes.place, part)
    const name = `${VARIABLE_PREFIX}${variables.length + 1}`
    variables.push([name, part])
    written += quotes.place === 'bare' ? `"\${${name}}"` : `\${${name}}`
  }
  return { text: written, variables }
}

const IN_ENV = 'Put it into `env`, and name that variable here.'

const REFUSED: Partial<Record<ShellPlace | 'escaped', string>> = {
  single: 'stands in single quotes, where a shell takes everything as it is written',
  'raw-here': 'stands in a document whose end is quoted, where a shell replaces nothing',
  sum: 'stands in (( )), where a shell would calculate with whatever is in it, commands included',
  escaped: 'stands behind a \\',
}

function refusePlace(place: ShellPlace | 'escaped', { text, field }: Expression): void {
  const why = REFUSED[place]
  if (why) throw wrongExpression(field, `${shown(text)} ${why}`, IN_ENV)
}

/** Expressions in texts that no shell reads could only be pasted in, and that is never done. */
export function refuseForeignText(program: string, field: string): Error {
  const message = `${program} is not a shell we know, so expressions cannot stand in its text`
  return wrongExpression(field, message, 'Put them into `env`, and read the variables there.')
}
