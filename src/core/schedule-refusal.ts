import { PunctualError } from './errors.ts'

/** The code for everything that the rules of time do not take. */
export function refusal(field: string, message: string, hint?: string): PunctualError {
  const sentence = `${field}: ${message}`
  return new PunctualError('invalid_schedule', sentence, { field, ...(hint && { hint }) })
}
