import { PunctualError } from '../../src/core/errors.ts'

/** What really happened, recorded independently of the scheduler. */
export interface GroundTruth {
  /** Submission number → the answer its client got. */
  readonly submissions: Map<number, SubmissionRecord>
  /** Every start of a handler, in order. */
  readonly starts: HandlerStart[]
  /** Cancels that were acknowledged: run → the fence the run had then. */
  readonly cancelled: Map<number, number>
  readonly violations: string[]
  violate(invariant: string, detail: string): void
}

export interface SubmissionRecord {
  readonly job: string
  /** `unknown`: the client saw an error that proves nothing. */
  outcome: 'sent' | 'acknowledged' | 'merged' | 'refused' | 'unknown'
  runId: number | null
}

export interface HandlerStart {
  readonly runId: number
  readonly fence: number
  readonly worker: string
  readonly atMs: number
}

export function createGroundTruth(): GroundTruth {
  const violations: string[] = []
  return {
    submissions: new Map(),
    starts: [],
    cancelled: new Map(),
    violations,
    violate(invariant, detail) {
      violations.push(`${invariant}: ${detail}`)
    },
  }
}

/** A refusal proves that nothing was stored; with any other error it is unknown. */
export function outcomeOfError(error: unknown): 'refused' | 'unknown' {
  if (!(error instanceof PunctualError)) return 'unknown'
  return error.status < 500 || error.code === 'overloaded' ? 'refused' : 'unknown'
}
