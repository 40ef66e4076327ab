import {
  GATE_MET,
  KEY_MET,
  LEASE_MISSED,
  WAITER_MET,
  WEBHOOK_MET,
} from '../connection/store-errors.ts'

/**
 * What a tick assumes, because it nearly always holds and is cheaper. When a statement finds that
 * an assumption does not hold, the transaction fails as a whole and is repeated without that
 * assumption.
 */
export interface Assumptions {
  /** No decision is needed between the statements: they go out in one round trip. */
  readonly noGates: boolean
  /** Ids are new: inserting need not check first. */
  readonly noRepeats: boolean
  /** No run that succeeds holds a key. */
  readonly noKeys: boolean
  /** All ends are plain successes that still have their lease. */
  readonly plainSuccesses: boolean
  /** No webhook subscribes to these ends. */
  readonly noWebhooks: boolean
  /** No workflow and no other run waits for what ends. */
  readonly noWaiters: boolean
}

const UNIQUE_VIOLATION = '23505'

/** The assumptions for the next try; undefined when the failure has nothing to do with them. */
export function dropAssumption(
  assumptions: Assumptions,
  code: string | undefined,
): Assumptions | undefined {
  switch (code) {
    case GATE_MET:
      return assumptions.noGates ? { ...assumptions, noGates: false } : undefined
    case KEY_MET:
      return assumptions.noKeys ? { ...assumptions, noKeys: false } : undefined
    case LEASE_MISSED:
      return assumptions.plainSuccesses ? { ...assumptions, plainSuccesses: false } : undefined
    case WEBHOOK_MET:
      return assumptions.noWebhooks ? { ...assumptions, noWebhooks: false } : undefined
    case WAITER_MET:
      return assumptions.noWaiters ? { ...assumptions, noWaiters: false } : undefined
    case UNIQUE_VIOLATION:
      return assumptions.noRepeats ? { ...assumptions, noRepeats: false } : undefined
    default:
      return undefined
  }
}
