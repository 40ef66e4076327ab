import { type ErrorCode, PunctualError } from '../../core/errors.ts'
import { StoreError, type StoreTrouble } from '../../store/port.ts'

const CODES: Readonly<Record<StoreTrouble, ErrorCode>> = {
  full: 'storage_full',
  damaged: 'store_damaged',
  replaced: 'store_replaced',
}

const WORDS: Readonly<Record<StoreTrouble, string>> = {
  full: 'the disk is full',
  damaged: 'the database is damaged',
  replaced: 'the files of the database were changed',
}

/**
 * The problem for callers when the store knows why it cannot work; null if it may work again in a
 * moment.
 */
export function storeProblem(error: unknown): PunctualError | null {
  if (!(error instanceof StoreError) || !error.trouble) return null
  const { trouble, message } = error
  return new PunctualError(CODES[trouble], `${WORDS[trouble]}: ${message}`, { cause: error })
}
