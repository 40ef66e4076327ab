import { PunctualError, type TextRange } from '../errors.ts'

/** An error in an expression, or in its evaluation, with the field that contains it. */
export function expressionError(
  field: string,
  message: string,
  hint?: string,
  range?: TextRange,
): PunctualError {
  const sentence = `${field}: ${message}`
  return new PunctualError('invalid_expression', sentence, {
    field,
    ...(hint && { hint }),
    ...(range && { range }),
  })
}

/** The same error with the position of the expression in its text. */
export function withTextRange(error: unknown, range: TextRange): unknown {
  if (!(error instanceof PunctualError) || error.range !== undefined) return error
  const { code, message, field, hint, isGeneral } = error
  return new PunctualError(code, message, {
    cause: error.cause,
    range,
    ...(field !== undefined && { field }),
    ...(isGeneral ? {} : { hint }),
  })
}

/** Shortens a text for use in a message. */
export function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > 48 ? `${line.slice(0, 48)}…` : line
}
