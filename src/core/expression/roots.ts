import { nearestName } from '../text/nearest.ts'
import { AFTER_FACTS, type Node, RUN_FACTS, type RunFact } from './expression.ts'
import type { Reader } from './parse.ts'
import { expressionError } from './expression-error.ts'

/** The names that an expression can begin with, besides literals and functions. */
export const EXPRESSION_ROOTS = [
  'input',
  'steps',
  'run',
  'secrets',
  'item',
  'each',
  'after',
] as const

/** Parses the root name and the members that belong to it; `undefined` if there is no such root. */
export function parseRoot(word: string, reader: Reader): Node | undefined {
  switch (word) {
    case 'true':
      return { kind: 'value', value: true }
    case 'false':
      return { kind: 'value', value: false }
    case 'null':
      return { kind: 'value', value: null }
    case 'input':
    case 'item':
      return { kind: word }
    case 'each':
      return one(reader, 'each', ['index'] as const) && { kind: 'index' }
    case 'run':
      return { kind: 'run', fact: runFact(reader) }
    case 'after':
      return { kind: 'after', fact: one(reader, 'after', AFTER_FACTS) }
    case 'steps':
      return {
        kind: 'step',
        step: member(reader, 'steps', 'the name of a step'),
        fact: one(reader, 'a step', ['output', 'state'] as const),
      }
    case 'secrets':
      return { kind: 'secret', name: member(reader, 'secrets', 'the name of a secret') }
    default:
      return undefined
  }
}

const FIRST_FACTS = RUN_FACTS.filter((fact) => !fact.includes('.'))
const PARTS = RUN_FACTS.filter((fact) => fact.includes('.')).map((fact) => fact.split('.')[1] ?? '')

function runFact(reader: Reader): RunFact {
  const fact = one(reader, 'run', FIRST_FACTS)
  const following = reader.peek()
  const hasPart = fact === 'scheduled_at' && following?.kind === 'sign' && following.text === '.'
  return hasPart ? (`${fact}.${one(reader, 'run.scheduled_at', PARTS)}` as RunFact) : fact
}

/** The next member, which must be one of the given words. */
function one<Word extends string>(reader: Reader, of: string, words: readonly Word[]): Word {
  const name = member(reader, of, words.join(' or '))
  const word = words.find((known) => known === name)
  if (word !== undefined) return word
  const suggestion = nearestName(name, words)
  const advice = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
  const message = `${of} has no ${name}${advice}`
  throw expressionError(reader.field, message, `It has ${words.join(', ')}.`)
}

/** `.name`, or `['name']` for names that contain dots. */
function member(reader: Reader, of: string, what: string): string {
  const isIndex = reader.sign('[')
  if (!isIndex && !reader.sign('.')) throw reader.refuse(`a dot and ${what} after ${of}`)
  const token = reader.peek()
  if (token?.kind !== (isIndex ? 'string' : 'word')) throw reader.refuse(what)
  reader.next()
  if (isIndex) reader.expect(']')
  return token.text
}
