import type { ParameterInput } from '../../core/workflow/definition.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { nearestName } from '../../core/text/nearest.ts'
import { readJson } from './read-json.ts'

export type Declared = Readonly<Record<string, Pick<ParameterInput, 'type'>>>

const PAIR = /^([A-Za-z_]\w*)=(.*)$/s

/** Whether the input is given field by field, which requires the declared parameters. */
export function isByField(texts: readonly string[]): boolean {
  return texts.some((text) => PAIR.test(text))
}

/** `-i '{"a": 1}'`, or `-i a=1 -i b=x`: the last value wins. */
export function readInput(texts: readonly string[], declared: Declared): unknown {
  let input: unknown
  for (const text of texts) {
    const [, name, value] = PAIR.exec(text) ?? []
    if (name === undefined) input = readJson(text, 'the input', '-i')
    else
      input = { ...(input as object | undefined), [name]: readField(name, value ?? '', declared) }
  }
  return input
}

/** Reads the flags of a job's parameters, such as `--date 2026-01-31 --full`. */
export function readFlags(words: readonly string[], declared: Declared): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  const left = [...words]
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const [, typed, joined] = /^--([A-Za-z_][\w-]*)(?:=(.*))?$/s.exec(word) ?? []
    if (typed === undefined) {
      const what = word.startsWith('-') ? `unknown option '${word}'` : null
      throw wrong(what ?? `"${word}" is one word too many`)
    }
    const { name, isNo } = fieldOf(typed, declared)
    const isFlag = declared[name]?.type === 'boolean'
    if (isFlag && joined === undefined) input[name] = !isNo
    else {
      const value = joined ?? left.shift()
      if (value === undefined) throw wrong(`--${typed} needs a value`)
      input[name] = readField(name, value, declared)
    }
  }
  return input
}

/** `--dry-run` is the field `dry_run`, and `--no-dry-run` sets it to false. */
function fieldOf(typed: string, declared: Declared): { name: string; isNo: boolean } {
  const find = (text: string) => {
    const name = text.replaceAll('-', '_')
    return Object.hasOwn(declared, name) ? name : undefined
  }
  const name = find(typed)
  if (name !== undefined) return { name, isNo: false }
  const negated = typed.startsWith('no-') ? find(typed.slice(3)) : undefined
  if (negated !== undefined && declared[negated]?.type === 'boolean') {
    return { name: negated, isNo: true }
  }
  throw unknown(typed, declared)
}

function unknown(typed: string, declared: Declared): Failure {
  const flags = Object.keys(declared).map((name) => name.replaceAll('_', '-'))
  const meant = nearestName(typed, flags)
  const hint =
    meant === undefined
      ? flags.length === 0
        ? 'The job declares no input; -i gives it any JSON.'
        : `The job takes ${flags.map((flag) => `--${flag}`).join(', ')}.`
      : `Did you mean --${meant}?`
  return new Failure(`unknown option '--${typed}'`, { exitCode: EXIT.usage, hint })
}

function readField(name: string, text: string, declared: Declared): unknown {
  switch (declared[name]?.type) {
    case 'string':
      return text
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true'
      throw wrong(`${name} is "${text}" and not true or false`)
    case 'number':
    case 'integer': {
      const number = Number(text)
      if (text.trim() !== '' && Number.isFinite(number)) return number
      throw wrong(`${name} is "${text}" and not a number`)
    }
    case 'array':
    case 'object':
      return readJson(text, name, `-i ${name}=`)
    case undefined:
      return readPlain(text)
  }
}

/** Without a declaration, text that is valid JSON is read as JSON. */
function readPlain(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function wrong(message: string): Failure {
  return new Failure(message, { exitCode: EXIT.usage })
}
