import { PunctualError } from '../../src/core/errors.ts'

/** What really happened, kept apart from what the scheduler believes. */
export interface Truth {
  /** Submission number → what its client was told. */
  readonly submissions: Map<number, Told>
  /** Every start of a handler, in order. */
  readonly starts: Start[]
  /** Cancels that were acknowledged: run → the fence the run had then. */
  readonly cancelled: Map<number, number>
  readonly violations: string[]
  violate(law: string, detail: string): void
}

export interface Told {
  readonly job: string
  /** `unknown`: the client saw an error that proves nothing. */
  outcome: 'sent' | 'acknowledged' | 'merged' | 'refused' | 'unknown'
  runId: number | null
}

export interface Start {
  readonly runId: number
  readonly fence: number
  readonly worker: string
  readonly atMs: number
}

export function createTruth(): Truth {
  const violations: string[] = []
  return {
    submissions: new Map(),
    starts: [],
    cancelled: new Map(),
    violations,
    violate(law, detail) {
      violations.push(`${law}: ${detail}`)
    },
  }
}

/** A refusal says that nothing was stored; anything else may have been. */
export function outcomeOf(error: unknown): 'refused' | 'unknown' {
  if (!(error instanceof PunctualError)) return 'unknown'
  return error.status < 500 || error.code === 'overloaded' ? 'refused' : 'unknown'
}
