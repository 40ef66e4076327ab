import type { Problem } from '../../core/wire/runs.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'

export interface FailureOptions {
  readonly exitCode?: number
  /** A word for programs; what the server said has its own. */
  readonly code?: string
  /** A sentence on what to do about it. */
  readonly hint?: string | undefined
  /** A command that goes on from here, to be copied. */
  readonly next?: string | undefined
  /** What the server said, for programs. */
  readonly problem?: Problem | undefined
  readonly cause?: unknown
}

/** Something a person should read, and a code for the shell. */
export class Failure extends Error {
  readonly exitCode: number
  readonly code: string
  readonly hint: string | undefined
  readonly next: string | undefined
  readonly problem: Problem | undefined

  constructor(message: string, options: FailureOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'Failure'
    this.exitCode = options.exitCode ?? EXIT.unexpected
    this.code = options.problem?.code ?? options.code ?? CODES.get(this.exitCode) ?? 'unexpected'
    this.hint = options.hint
    this.next = options.next
    this.problem = options.problem
  }
}

/** Words for what the command line finds by itself. */
const CODES: ReadonlyMap<number, string> = new Map([
  [EXIT.usage, 'usage'],
  [EXIT.notFound, 'not_found'],
  [EXIT.waitTimedOut, 'wait_timed_out'],
  [EXIT.unreachable, 'server_unreachable'],
  [EXIT.interrupted, 'interrupted'],
])

export function failureOf(problem: Problem): Failure {
  const { detail, hint, status } = problem
  return new Failure(detail, { exitCode: exitCodeOf(status), hint, problem })
}
