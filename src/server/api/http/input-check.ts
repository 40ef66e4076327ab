import { PunctualError } from '../../../core/errors.ts'
import { LIMITS } from '../../../core/limits.ts'

/**
 * Holds an input to its size as JSON, and to numbers that JSON can carry back: `1e309` parses as
 * infinity and would be stored as null. Small inputs, nearly all of them, are only walked, not
 * written out; the walk overestimates, and only what seems too large is measured.
 */
export function checkInput(input: unknown, field: string): void {
  if (input === undefined) return
  const most = bytesAtMost(input)
  if (Number.isNaN(most)) {
    throw new PunctualError('invalid_field', `${field} has a number too large for JSON readers`, {
      field,
    })
  }
  if (most > LIMITS.inputBytes) checkBytes(JSON.stringify(input), LIMITS.inputBytes, field)
}

/** Texts whose limit is in bytes; three per unit is the most that UTF-8 needs. */
export function checkBytes(text: string | undefined, limit: number, field: string): void {
  if (text === undefined || text.length * 3 <= limit) return
  const size = Buffer.byteLength(text)
  if (size <= limit) return
  throw new PunctualError(
    'invalid_field',
    `${field} is ${size} bytes; at most ${limit} are allowed`,
    {
      field,
    },
  )
}

/** An upper bound for the JSON text of a value; NaN if a number in it is not finite. */
function bytesAtMost(value: unknown): number {
  // Every unit of text may become an escape of six.
  if (typeof value === 'string') return value.length * 6 + 2
  if (typeof value === 'number') return Number.isFinite(value) ? 25 : Number.NaN
  return typeof value === 'object' && value !== null ? sumOf(value) : 5
}

function sumOf(value: object): number {
  let total = 2
  if (Array.isArray(value)) {
    for (const item of value) total += bytesAtMost(item) + 1
    return total
  }
  for (const key in value) {
    total += key.length * 6 + 4 + bytesAtMost((value as Record<string, unknown>)[key])
  }
  return total
}
