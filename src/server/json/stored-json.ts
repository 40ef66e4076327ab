import type { Clock } from '../../core/clock.ts'
import { parsingJson, PieceError } from './json-pieces.ts'
import { runInSlices } from '../loops/run-in-slices.ts'

/** Characters that are parsed at once: a few milliseconds. */
const PARSED_AT_ONCE = 256 * 1024

/** Parses stored JSON; a large text in slices. */
export async function readStoredJson(text: string, clock: Pick<Clock, 'mono'>): Promise<unknown> {
  if (text.length <= PARSED_AT_ONCE) return JSON.parse(text)
  try {
    return await runInSlices(parsingJson(Buffer.from(text)), clock)
  } catch (error) {
    // It is nested deeper than is accepted today.
    if (error instanceof PieceError) return JSON.parse(text)
    throw error
  }
}
