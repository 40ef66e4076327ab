import { PunctualError } from '../errors.ts'

/** What is done about something wrong: usually it is thrown, and whoever wants all of it collects. */
export type OnProblem = (problem: PunctualError) => void

export const throwFirst: OnProblem = (problem) => {
  throw problem
}

/** Goes on after what is wrong with one part, so that the others get their turn. */
export function attempt<Value>(onProblem: OnProblem, read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof PunctualError)) throw error
    onProblem(error)
    return undefined
  }
}

/** The code for everything about the shape of a workflow. */
export function wrongStep(field: string, message: string, hint?: string): PunctualError {
  const sentence = `${field}: ${message}`
  return new PunctualError('invalid_workflow', sentence, { field, ...(hint && { hint }) })
}
