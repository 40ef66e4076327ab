import type { Problem } from '../core/wire.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'

/** Something a person should read, and a code for the shell. */
export class Failure extends Error {
  readonly exitCode: number
  readonly hint: string | undefined
  /** What the server said, for programs. */
  readonly problem: Problem | undefined

  constructor(
    message: string,
    options: { exitCode?: number; hint?: string; problem?: Problem; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'Failure'
    this.exitCode = options.exitCode ?? EXIT.unexpected
    this.hint = options.hint
    this.problem = options.problem
  }
}

export function failureOf(problem: Problem): Failure {
  const { detail, hint, status } = problem
  return new Failure(detail, { exitCode: exitCodeOf(status), hint, problem })
}
