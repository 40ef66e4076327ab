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
  /** All ends are simple successes that still have their lease. */
  readonly simpleSuccesses: boolean
  /** No webhook subscribes to these ends. */
  readonly noWebhooks: boolean
  /** No workflow and no other run waits for what ends. */
  readonly noWaiters: boolean
}

/** The SQLSTATE with which a statement fails the transaction when an assumption does not hold. */
export const NO_GATES_VIOLATED = 'PU001'
export const NO_KEYS_VIOLATED = 'PU002'
export const SIMPLE_SUCCESSES_VIOLATED = 'PU003'
export const NO_WEBHOOKS_VIOLATED = 'PU004'
export const NO_WAITERS_VIOLATED = 'PU005'
const UNIQUE_VIOLATION = '23505'

/** SQL that fails with one of the codes above. The first migration gave the function its name. */
export function failAssumption(code: string): string {
  return `fail_hope('${code}')`
}

/** The assumptions for the next try; undefined when the failure has nothing to do with them. */
export function dropAssumption(
  assumptions: Assumptions,
  code: string | undefined,
): Assumptions | undefined {
  switch (code) {
    case NO_GATES_VIOLATED:
      return assumptions.noGates ? { ...assumptions, noGates: false } : undefined
    case NO_KEYS_VIOLATED:
      return assumptions.noKeys ? { ...assumptions, noKeys: false } : undefined
    case SIMPLE_SUCCESSES_VIOLATED:
      return assumptions.simpleSuccesses ? { ...assumptions, simpleSuccesses: false } : undefined
    case NO_WEBHOOKS_VIOLATED:
      return assumptions.noWebhooks ? { ...assumptions, noWebhooks: false } : undefined
    case NO_WAITERS_VIOLATED:
      return assumptions.noWaiters ? { ...assumptions, noWaiters: false } : undefined
    case UNIQUE_VIOLATION:
      return assumptions.noRepeats ? { ...assumptions, noRepeats: false } : undefined
    default:
      return undefined
  }
}
