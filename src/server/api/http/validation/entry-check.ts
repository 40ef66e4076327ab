import { MAX_DURATION_MS } from '../../../../core/text/duration.ts'
import { PunctualError } from '../../../../core/errors.ts'
import { LIMITS } from '../../../../core/limits.ts'
import type { OutputEntry } from '../../../../core/run/output.ts'

/** No attempt lasts longer than this; beyond it an entry would have a time outside the calendar. */
const isWithin = (ms: number) => ms >= 0 && ms <= MAX_DURATION_MS

/** Checks the form of the entries of a chunk, and its size. */
export function checkEntries(entries: readonly OutputEntry[], field: string): void {
  let length = 0
  for (const [index, entry] of entries.entries()) {
    const [ms, stream, text] = entry as readonly unknown[]
    const isTime = Number.isSafeInteger(ms) && isWithin(ms as number)
    const isStream = stream === 0 || stream === 1 || stream === 2
    if (!isTime || !isStream || typeof text !== 'string') {
      const at = `${field}.${index}`
      const message = `${at} must be a list of milliseconds, a stream (0, 1 or 2) and text`
      throw new PunctualError('invalid_field', message, { field: at })
    }
    length += text.length
  }
  if (length <= LIMITS.chunkBytes) return
  const message = `${field} holds ${length} characters; a chunk holds at most ${LIMITS.chunkBytes}`
  throw new PunctualError('invalid_field', message, { field })
}
