import { PunctualError } from '../../../core/errors.ts'
import { StoreError, type StoreTrouble } from '../../port.ts'

/** A statement that failed, and whether its success would have been the commit. */
export class QueryFailed extends Error {
  readonly commits: boolean
  /** The SQLSTATE, if the server sent the error. */
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
    // Only the server's errors carry a severity; a socket's `code` is no SQLSTATE.
    this.severity = severity
    this.code = severity === undefined ? undefined : code
  }
}

/**
 * Serialization failure, deadlock, lock timeout: another transaction won, and the next try may
 * pass.
 */
const TRANSIENT = new Set(['40001', '40P01', '55P03'])
/** Data exceptions, broken constraints, and values beyond what a row or an index can hold. */
const REFUSING = new Set(['22', '23', '54'])
/** The server session no longer has our prepared statements, or prepared them for other tables. */
const STALE_SESSION = new Set(['26000', '0A000'])
const IN_FAILED_TRANSACTION = '25P02'

/** Makes `transact` start over, for a reason that only this program can see. */
export function retryTransaction(message: string): QueryFailed {
  return new QueryFailed({ message, code: '40001', severity: 'ERROR' }, false)
}

export function isTransient(error: unknown): boolean {
  return error instanceof QueryFailed && TRANSIENT.has(error.code ?? '')
}

export function isStaleSession(error: unknown): boolean {
  return error instanceof QueryFailed && STALE_SESSION.has(error.code ?? '')
}

/** The SQLSTATE of a store error, if the server sent one. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof StoreError)) return undefined
  const cause = error.cause as { code?: string; severity?: string } | undefined
  return cause?.severity === undefined ? undefined : cause.code
}

/** Of several failures in one transaction, the one that caused the others. */
export function primaryFailure(
  settled: readonly PromiseSettledResult<unknown>[],
): Error | undefined {
  const reasons = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []))
  return reasons.find((one) => !isSecondaryFailure(one))
}

/** The statement was never run, because one before it had failed. */
export function isSecondaryFailure(error: unknown): boolean {
  return error instanceof QueryFailed && error.code === IN_FAILED_TRANSACTION
}

/** The error as the port's error. `commitSent`: a commit may have reached the server. */
export function toStoreError(error: unknown, commitSent: boolean): Error {
  if (error instanceof StoreError || error instanceof PunctualError) return error
  const { message } = error as Error
  if (!(error instanceof QueryFailed)) return new StoreError('refused', message, { cause: error })
  const trouble = troubleOf(error.code)
  return new StoreError(outcomeOf(error, commitSent), message, { cause: error.cause, trouble })
}

/**
 * data_corrupted and index_corrupted; io_error means a disk that does not return what was written.
 */
const DAMAGED = new Set(['XX001', 'XX002', '58030'])
const DISK_FULL = '53100'

function troubleOf(code: string | undefined): StoreTrouble | undefined {
  if (code === DISK_FULL) return 'full'
  return code !== undefined && DAMAGED.has(code) ? 'damaged' : undefined
}

function outcomeOf(failure: QueryFailed, commitSent: boolean): StoreError['outcome'] {
  const { code, severity, commits } = failure
  if (code === undefined) return commitSent ? 'unknown' : 'unavailable'
  // A server that dies in the middle of our commit may have written it before.
  if (severity !== 'ERROR' && commits) return 'unknown'
  return REFUSING.has(code.slice(0, 2)) ? 'refused' : 'unavailable'
}
