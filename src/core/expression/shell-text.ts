import type { Names } from './check.ts'
import type { Expression } from './expression.ts'
import { shown, wrongExpression } from './expression-error.ts'
import { DEFAULT_SHELL } from '../work/work.ts'
import { readText } from './read-template.ts'
import { createShellQuotes, LOST, type ShellPlace } from './shell-quotes.ts'

/** A text for a shell in which variables stand for the expressions. */
export interface ShellText {
  readonly text: string
  readonly variables: readonly (readonly [name: string, value: Expression])[]
}

/** What the variables are called, followed by a number from 1. */
export const VARIABLE_PREFIX = 'PUNCTUAL_EXPR_'

/**
 * Puts a quoted variable where each expression stands. The value goes there by the environment and is
 * never part of the text, so that nothing in it can be taken for a command.
 */
export function readShellText(
  text: string,
  names: Names,
  field: string,
  shell = DEFAULT_SHELL,
): ShellText {
  const quotes = createShellQuotes(shell)
  const variables: (readonly [string, Expression])[] = []
  let written = ''
  let last: Expression | undefined
  const refuse = (why: string | undefined) => {
    if (why !== undefined && last) {
      const hint = why.includes('calculate') ? `${IN_ENV} ${CHECKED}` : IN_ENV
      throw wrongExpression(last.field, `${shown(last.text)} ${why}`, hint)
    }
  }
  for (const part of readText(text, names, field)) {
    if (typeof part === 'string') {
      written += part
      quotes.read(part)
      refuse(quotes.regret)
      continue
    }
    last = part
    refuse(quotes.isEscaped ? 'stands behind a \\' : (REFUSED[quotes.place] ?? quotes.risk))
    const name = `${VARIABLE_PREFIX}${variables.length + 1}`
    variables.push([name, part])
    written += quotes.place === 'bare' ? `"\${${name}}"` : `\${${name}}`
    quotes.value()
  }
  quotes.end()
  refuse(quotes.regret)
  return { text: written, variables }
}

const IN_ENV = 'Put it into `env`, and name that variable here.'
const CHECKED = 'See that it is a number before you calculate with it.'

const REFUSED: Partial<Record<ShellPlace, string>> = {
  single: 'stands in single quotes, where a shell takes everything as it is written',
  'raw-here': 'stands in a document whose end is quoted, where a shell replaces nothing',
  program: 'stands in a document that a shell would read as a program',
  sum: 'stands in (( )), where a shell would calculate with whatever is in it, commands included',
  parameter: 'stands in ${ }, where a shell would calculate with it, or take it for a name',
  lost: LOST,
}

/** Expressions in texts that no shell reads could only be pasted in, and that is never done. */
export function refuseForeignText(program: string, field: string): Error {
  const message = `${program} is not a shell we know, so expressions cannot stand in its text`
  return wrongExpression(field, message, 'Put them into `env`, and read the variables there.')
}
