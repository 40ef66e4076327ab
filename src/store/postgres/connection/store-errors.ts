import { PunctualError } from '../../../core/errors.ts'
import { StoreError } from '../../port.ts'

/** A statement that failed, and whether its success would have been the commit. */
export class QueryFailed extends Error {
  readonly commits: boolean
  /** The SQLSTATE, when it was the server that said no. */
  readonly code: string | undefined
  readonly severity: string | undefined

  constructor(cause: unknown, commits: boolean) {
    const { message, code, severity } = cause as {
      message: string
      code?: string
      severity?: string
    }
    super(message, { cause })
    this.name = 'QueryFailed'
    this.commits = commits
    // Only the server's own errors carry a severity; a socket's `code` is no SQLSTATE.
    this.severity = severity
    this.code = severity === undefined ? undefined : code
  }
}

/** Serialisation failure, deadlock, lock timeout: somebody else won, and the next try may pass. */
const PASSING = new Set(['40001', '40P01', '55P03'])
/** Raised by `fail_hope()`: the statement was sent in the hope that it would not meet this. */
export const GATE_MET = 'PU001'
export const KEY_MET = 'PU002'
export const LEASE_MISSED = 'PU003'
export const HOOK_MET = 'PU004'
export const WAITER_MET = 'PU005'
/** Data exceptions, broken constraints, and values beyond what a row or an index can hold. */
const REFUSING = new Set(['22', '23', '54'])
/** The session no longer knows what we prepared, or prepared it for other tables. */
const STALE_SESSION = new Set(['26000', '0A000'])
const IN_FAILED_TRANSACTION = '25P02'

/** What makes `transact` start over, for a reason that only we can see. */
export function tryAgain(message: string): QueryFailed {
  return new QueryFailed({ message, code: '40001', severity: 'ERROR' }, false)
}

export function isPassing(error: unknown): boolean {
  return error instanceof QueryFailed && PASSING.has(error.code ?? '')
}

export function isStaleSession(error: unknown): boolean {
  return error instanceof QueryFailed && STALE_SESSION.has(error.code ?? '')
}

/** The SQLSTATE behind an error of the store, if the server gave one. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof StoreError)) return undefined
  const cause = error.cause as { code?: string; severity?: string } | undefined
  return cause?.severity === undefined ? undefined : cause.code
}

/** Of several failures in one transaction, the one that made the others fail. */
export function firstFailure(settled: readonly PromiseSettledResult<unknown>[]): Error | undefined {
  const reasons = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []))
  return reasons.find((one) => !isAftermath(one))
}

/** The statement was never tried, because one before it had failed. */
export function isAftermath(error: unknown): boolean {
  return error instanceof QueryFailed && error.code === IN_FAILED_TRANSACTION
}

/** What went wrong, in the port's words. `commitSent`: a commit may have reached the server. */
export function toStoreError(error: unknown, commitSent: boolean): Error {
  if (error instanceof StoreError || error instanceof PunctualError) return error
  const { message } = error as Error
  if (!(error instanceof QueryFailed)) return new StoreError('refused', message, { cause: error })
  return new StoreError(outcomeOf(error, commitSent), message, { cause: error.cause })
}

function outcomeOf(failure: QueryFailed, commitSent: boolean): StoreError['outcome'] {
  const { code, severity, commits } = failure
  if (code === undefined) return commitSent ? 'unknown' : 'unavailable'
  // A server that dies in the middle of our commit may have written it before.
  if (severity !== 'ERROR' && commits) return 'unknown'
  return REFUSING.has(code.slice(0, 2)) ? 'refused' : 'unavailable'
}
