import { refuseResult } from '../../../core/run/result.ts'
import type { Masker } from './masker.ts'

/**
 * A text as the result of an attempt, or why it cannot be one. What is wrong with it is said in the
 * words of what is masked: a parser quotes the beginning of what it trips over.
 */
export function maskedResult(text: string, masker: Masker): { text?: string; problem?: string } {
  if (refuseResult(text) === undefined) return { text: masker.result(text) }
  return { problem: refuseResult(masker.text(text)) ?? 'is not JSON' }
}
