import type { Pausing } from '../pausing.ts'

/** Number of values written between two pauses, and of characters that count as one value. */
const WRITTEN_AT_ONCE = 2_000
const CHARACTERS = 32

/** Writes a JSON value as `JSON.stringify` does, but with pauses, for large values. */
export function* writingJson(value: unknown): Pausing<string> {
  if (weigh(value, 0) <= WRITTEN_AT_ONCE) return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts: string[] = []
  const isList = Array.isArray(value)
  const items = value as Readonly<Record<string, unknown>>
  let light = isList ? ([] as never) : emptyObject()
  let weight = 0
  const flush = () => {
    const text = JSON.stringify(light).slice(1, -1)
    if (text !== '') parts.push(text)
    light = isList ? ([] as never) : emptyObject()
    weight = 0
  }
  for (const key of isList ? value.keys() : Object.keys(items)) {
    const item = items[key]
    const own = weigh(item, 0)
    if (own > WRITTEN_AT_ONCE) {
      flush()
      const text = yield* writingJson(item)
      parts.push(isList ? text : `${JSON.stringify(key)}:${text}`)
      continue
    }
    if (isList) (light as unknown as unknown[]).push(item)
    else light[key] = item
    weight += own
    if (weight < WRITTEN_AT_ONCE) continue
    flush()
    yield
  }
  flush()
  const [open, close] = isList ? '[]' : '{}'
  return `${open}${parts.join(',')}${close}`
}

/** Without a prototype, `__proto__` is an ordinary key. */
function emptyObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>
}

/** The amount of text to write, counted up to the limit. */
function weigh(value: unknown, before: number, max = WRITTEN_AT_ONCE): number {
  if (typeof value === 'string') return before + 1 + value.length / CHARACTERS
  if (typeof value !== 'object' || value === null) return before + 1
  let weight = before + 1
  if (Array.isArray(value)) {
    for (const item of value) {
      if (weight > max) break
      weight = weigh(item, weight, max)
    }
    return weight
  }
  for (const key in value) {
    if (weight > max) break
    weight = weigh((value as Readonly<Record<string, unknown>>)[key], weight + 1, max)
  }
  return weight
}

/** Whether the values together are so large that they should be written with pauses. */
export function areLarge(values: Iterable<unknown>): boolean {
  let weight = 0
  for (const value of values) {
    if (value !== undefined) weight = weigh(value, weight, MANY)
    if (weight > MANY) return true
  }
  return false
}

/** This many values take a few milliseconds to write. */
const MANY = 20_000
