import type { Clock } from '../../../../core/clock.ts'
import { PunctualError } from '../../../../core/errors.ts'
import { writingJson } from '../../../../core/text/json-text.ts'
import { LIMITS } from '../../../../core/limits.ts'
import { type Pausing, runWithoutPauses } from '../../../../core/pausing.ts'
import { runInSlices } from '../../../loops/run-in-slices.ts'

/** Number of input values walked at once; that takes less than a millisecond. */
const WALKED_AT_ONCE = 5_000

/**
 * Checks the size of an input as JSON, and that JSON can represent its numbers: `1e309` parses as
 * infinity and would be stored as null. Most inputs are small and are only walked, not serialized;
 * the walk overestimates, and only an input that seems too large is measured. An input with very
 * many values is checked in slices.
 */
export async function checkInput(
  input: unknown,
  field: string,
  clock: Pick<Clock, 'mono'>,
): Promise<void> {
  if (!checkSmallInput(input, field)) await runInSlices(checkingInput(input, field), clock)
}

/** Like `checkInput`, in one go, for a body that is small anyway. */
export function checkInputAtOnce(input: unknown, field: string): void {
  if (!checkSmallInput(input, field)) runWithoutPauses(checkingInput(input, field))
}

/** Returns false, without checking, if the input is too large to be checked in one go. */
export function checkSmallInput(input: unknown, field: string): boolean {
  if (input === undefined) return true
  left = WALKED_AT_ONCE
  const most = bytesAtMost(input)
  if (Number.isNaN(most)) throw notFinite(field)
  return left >= 0 && most <= LIMITS.inputBytes
}

export function* checkingInput(input: unknown, field: string): Pausing<void> {
  const most = yield* measuring(input)
  if (Number.isNaN(most)) throw notFinite(field)
  if (most > LIMITS.inputBytes) checkBytes(yield* writingJson(input), LIMITS.inputBytes, field)
}

function notFinite(field: string): PunctualError {
  const message = `${field} has a number too large for JSON readers`
  return new PunctualError('invalid_field', message, { field })
}

/** Checks limits in bytes; UTF-8 needs at most three bytes per code unit. */
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

/** Number of values that may still be walked in one go. Below zero, the walk has ended early. */
let left = 0

/** An upper bound for the JSON size of a value; NaN if a number in it is not finite. */
function bytesAtMost(value: unknown): number {
  // Each code unit may become an escape of six characters.
  if (typeof value === 'string') return value.length * 6 + 2
  if (typeof value === 'number') return Number.isFinite(value) ? 25 : Number.NaN
  return typeof value === 'object' && value !== null ? sumOf(value) : 5
}

function sumOf(value: object): number {
  let total = 2
  // Checked before its keys are listed, which takes long if there are many.
  if (left < 0) return total
  if (Array.isArray(value)) {
    left -= value.length
    if (left < 0) return total
    for (const item of value) total += bytesAtMost(item) + 1
    return total
  }
  for (const key in value) {
    left -= 1
    if (left < 0) return total
    total += key.length * 6 + 4 + bytesAtMost((value as Record<string, unknown>)[key])
  }
  return total
}

/** The same bound, with pauses. */
function* measuring(value: unknown): Pausing<number> {
  left = WALKED_AT_ONCE
  const whole = bytesAtMost(value)
  return left < 0 ? yield* summing(value as object) : whole
}

function* summing(value: object): Pausing<number> {
  const isList = Array.isArray(value)
  let total = 2
  let walked = 0
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const item = (value as Readonly<Record<number | string, unknown>>)[key]
    left = WALKED_AT_ONCE
    const most = bytesAtMost(item)
    walked += 1 + WALKED_AT_ONCE - left
    total += left < 0 ? yield* summing(item as object) : most
    total += isList ? 1 : (key as string).length * 6 + 4
    if (walked < WALKED_AT_ONCE) continue
    walked = 0
    yield
  }
  return total
}
