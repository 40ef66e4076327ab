import { PunctualError } from '../errors.ts'

/** Handles a problem: usually it is thrown; callers that want all problems collect them. */
export type OnProblem = (problem: PunctualError) => void

export const throwFirst: OnProblem = (problem) => {
  throw problem
}

/** Reports a problem of one part and continues with the others. */
export function collectProblem<Value>(onProblem: OnProblem, read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof PunctualError)) throw error
    onProblem(error)
    return undefined
  }
}

/** An error about the structure of a workflow; all of them share one code. */
export function workflowError(field: string, message: string, hint?: string): PunctualError {
  const sentence = `${field}: ${message}`
  return new PunctualError('invalid_workflow', sentence, { field, ...(hint && { hint }) })
}
