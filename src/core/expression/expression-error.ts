import { PunctualError } from '../errors.ts'

/** What is wrong with an expression, or came of it, and where it stands. */
export function wrongExpression(field: string, message: string, hint?: string): PunctualError {
  const sentence = `${field}: ${message}`
  return new PunctualError('invalid_expression', sentence, { field, ...(hint && { hint }) })
}

/** Short enough to stand in a message. */
export function shown(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > 48 ? `${line.slice(0, 48)}…` : line
}
