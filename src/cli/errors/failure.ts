import type { WireProblem } from '../../core/wire/runs.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'

export interface FailureOptions {
  readonly exitCode?: number
  /** The error code for programs, if the server sent none. */
  readonly code?: string
  /** The items that the message is about, one per line. */
  readonly list?: readonly string[]
  /** What to do about it, in a sentence. */
  readonly hint?: string | undefined
  /** A command to continue with, ready to be copied. */
  readonly next?: string | undefined
  /** The server's problem document, for programs. */
  readonly problem?: WireProblem | undefined
  readonly cause?: unknown
}

/** An error for the user, with an exit code. */
export class Failure extends Error {
  readonly exitCode: number
  readonly code: string
  readonly list: readonly string[]
  readonly hint: string | undefined
  readonly next: string | undefined
  readonly problem: WireProblem | undefined

  constructor(message: string, options: FailureOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'Failure'
    this.exitCode = options.exitCode ?? EXIT.unexpected
    this.code = options.problem?.code ?? options.code ?? CODES.get(this.exitCode) ?? 'unexpected'
    this.list = options.list ?? []
    this.hint = options.hint
    this.next = options.next
    this.problem = options.problem
  }
}

/** Error codes of failures that the command line itself detects. */
const CODES: ReadonlyMap<number, string> = new Map([
  [EXIT.usage, 'usage'],
  [EXIT.notFound, 'not_found'],
  [EXIT.waitTimedOut, 'wait_timed_out'],
  [EXIT.unreachable, 'server_unreachable'],
  [EXIT.conflict, 'conflict'],
  [EXIT.interrupted, 'interrupted'],
])

/** Hints for the command line, where the server's own hint is about requests. */
const HINTS: Readonly<Record<string, string>> = {
  forbidden:
    'Give a token that may do this with --token or PUNCTUAL_TOKEN; an admin makes one with `punctual token create NAME --role ROLE`.',
  unauthorized:
    'Give a token with --token or PUNCTUAL_TOKEN, or keep one with `punctual context add NAME URL`. The first token of a server is in the file admin-token of its data directory.',
}

export function hintFor(code: string): string | undefined {
  return Object.hasOwn(HINTS, code) ? HINTS[code] : undefined
}

export function failureOf(answer: WireProblem): Failure {
  const hint = hintFor(answer.code) ?? answer.hint
  const problem = { ...answer, hint }
  return new Failure(problem.detail, { exitCode: exitCodeOf(problem.status), hint, problem })
}
