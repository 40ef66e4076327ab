import { refuseResult } from '../../../core/run/result.ts'
import type { Masker } from './masker.ts'

/**
 * A text as the result of an attempt, or the reason why it cannot be one. The reason is masked as
 * well, because a JSON parser quotes the input it rejects.
 */
export function maskedResult(text: string, masker: Masker): { text?: string; problem?: string } {
  if (refuseResult(text) === undefined) return { text: masker.result(text) }
  return { problem: refuseResult(masker.text(text)) ?? 'is not JSON' }
}
