import { Type, type TSchema } from 'typebox'
import { LABEL_VALUE, LIMITS, NAME, USER_NAME } from '../limits.ts'

/**
 * The types of request fields. Each description completes the sentence "`field` must be …": the same text is used in
 * errors and in the API reference.
 */

const strict = { additionalProperties: false } as const

/** An object with only the named fields; any other field is an error. */
export function fields<Properties extends Record<string, TSchema>>(properties: Properties) {
  return Type.Object(properties, { ...strict, description: 'an object' })
}

export function wholeNumber(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER) {
  const range =
    maximum === Number.MAX_SAFE_INTEGER ? `${minimum} or more` : `${minimum} to ${maximum}`
  return Type.Integer({ minimum, maximum, description: `a whole number, ${range}` })
}

export function size() {
  return Type.String({ description: 'a size, such as 64KiB, 512MiB or 2GB' })
}

export function numberBetween(minimum: number, maximum: number) {
  return Type.Number({ minimum, maximum, description: `a number from ${minimum} to ${maximum}` })
}

export function fraction() {
  return Type.Number({ minimum: 0, maximum: 1, description: 'a number from 0 to 1' })
}

export function booleanField() {
  return Type.Boolean({ description: 'true or false' })
}

export function oneOf<const Word extends string>(words: readonly Word[]) {
  return Type.Unsafe<Word>({
    type: 'string',
    enum: [...words],
    description: `one of ${words.join(', ')}`,
  })
}

export function boundedText(maxLength: number) {
  return Type.String({
    minLength: 1,
    maxLength,
    description: `text of 1 to ${maxLength} characters`,
  })
}

/** The request handler limits its bytes; the schema does not count the characters of every long text. */
export function longText() {
  return Type.String({ description: 'text' })
}

const LENGTH = `1 to ${LIMITS.nameLength}`

export function name() {
  const description = `a name: ${LENGTH} of A-Z a-z 0-9 . _ - starting with a letter or digit`
  return Type.String({ pattern: NAME.source, description })
}

export function userName() {
  const description = 'the name of a user: at most 32 of A-Z a-z 0-9 . _ -, no digit first'
  return Type.String({ pattern: USER_NAME.source, description })
}

export function labels() {
  return Type.Unsafe<Record<string, string>>({
    type: 'object',
    maxProperties: LIMITS.labels,
    propertyNames: { type: 'string', pattern: NAME.source },
    additionalProperties: {
      type: 'string',
      pattern: LABEL_VALUE.source,
      description: `${LENGTH} of A-Z a-z 0-9 . _ : / - starting with a letter or digit`,
    },
    description: `an object of at most ${LIMITS.labels} labels, each a name and its text`,
  })
}

const PART = NAME.source.slice(1, -1)

export function jobOrStep() {
  const pattern = `^${PART}(/${PART})?$`
  return Type.String({ pattern, description: 'a job, or a step of one such as etl/load' })
}

export function executor() {
  const pattern = `^${PART}(:${PART})?$`
  return Type.String({ pattern, description: 'an executor, such as handler:send-invoice' })
}

/** The request handler parses it, with the parser for all durations. */
export function duration() {
  return Type.String({ description: 'a duration, such as 90s, 15m or 1h30m' })
}

export function time() {
  return Type.String({ description: 'a time with its zone, like 2026-01-31T09:00:00Z' })
}

export function id(kind: 'run' | 'ses') {
  const pattern = `^${kind}_[0-9A-Za-z]{11}$`
  return Type.String({ pattern, description: `an id like ${kind}_00f3k9m2q7x, as text` })
}

export function arrayOf<Item extends TSchema>(item: Item, maxItems: number, minItems = 0) {
  return Type.Array(item, {
    minItems,
    maxItems,
    description: `a list of ${minItems} to ${maxItems}`,
  })
}
