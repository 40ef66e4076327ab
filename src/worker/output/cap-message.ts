import { LIMITS } from '../../core/limits.ts'

const encoder = new TextEncoder()

/**
 * At most `LIMITS.messageBytes` of UTF-8, cut between characters; without NUL, which PostgreSQL
 * refuses.
 */
export function capMessage(message: string): string {
  const text = message.slice(0, LIMITS.messageBytes).replaceAll('\0', '\uFFFD').toWellFormed()
  const { read } = encoder.encodeInto(text, new Uint8Array(LIMITS.messageBytes))
  return text.slice(0, read)
}
