import { nearestName } from '../text/nearest.ts'
import { AFTER_FACTS, type Node, RUN_FACTS, type RunFact } from './expression.ts'
import type { Reader } from './parse.ts'
import { wrongExpression } from './expression-error.ts'

/** What an expression can begin with, besides literals and functions. */
export const HEADS = ['input', 'steps', 'run', 'secrets', 'item', 'each', 'after'] as const

/** What the word stands for, with as many members as belong to it; `undefined` if nothing is called so. */
export function parseHead(word: string, reader: Reader): Node | undefined {
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

/** The next member, which has to be one of a few. */
function one<Word extends string>(reader: Reader, of: string, words: readonly Word[]): Word {
  const name = member(reader, of, words.join(' or '))
  const word = words.find((known) => known === name)
  if (word !== undefined) return word
  const meant = nearestName(name, words)
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`
  const message = `${of} has no ${name}${advice}`
  throw wrongExpression(reader.field, message, `It has ${words.join(', ')}.`)
}

/** `.name`, or `['name']` for names with points in them. */
function member(reader: Reader, of: string, what: string): string {
  const isIndex = reader.sign('[')
  if (!isIndex && !reader.sign('.')) throw reader.refuse(`a point and ${what} after ${of}`)
  const token = reader.peek()
  if (token?.kind !== (isIndex ? 'string' : 'word')) throw reader.refuse(what)
  reader.next()
  if (isIndex) reader.expect(']')
  return token.text
}
