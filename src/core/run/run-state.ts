/** The states of a run. Stores, tick and simulator all follow the transitions of this file. */
export const STATES = [
  'blocked',
  'scheduled',
  'ready',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
] as const
export type RunState = (typeof STATES)[number]
export type FinalState = 'succeeded' | 'failed' | 'cancelled' | 'skipped'
export type WaitingState = 'blocked' | 'scheduled' | 'ready'

/** The stored codes of states in both databases. Codes never change. */
export const STATE_CODE = {
  ready: 0,
  running: 1,
  scheduled: 2,
  blocked: 3,
  succeeded: 4,
  failed: 5,
  cancelled: 6,
  skipped: 7,
} as const satisfies Record<RunState, number>

const BY_CODE = new Map(STATES.map((state) => [STATE_CODE[state], state] as const))

export function stateOfCode(code: number): RunState {
  const state = BY_CODE.get(code as (typeof STATE_CODE)[RunState])
  if (state === undefined) throw new RangeError(`no run state has code ${code}`)
  return state
}

export function isFinal(state: RunState): state is FinalState {
  return STATE_CODE[state] >= STATE_CODE.succeeded
}

/** Why an attempt ended. Stored by name. */
export const CAUSES = [
  'exit',
  'signal',
  'error',
  'timeout',
  'oom',
  'lost',
  'start_error',
  'cancelled',
] as const
export type Cause = (typeof CAUSES)[number]

export interface RunPosition {
  readonly state: RunState
  readonly attempt: number
  /** The fence of the current attempt, or of the one that ended the run. */
  readonly fence?: number
  /** A cancel was requested while an attempt was running. */
  readonly cancelling?: boolean
}

export type RunTransitionEvent =
  | { type: 'came_due'; gated: boolean }
  | { type: 'admitted' }
  | { type: 'claimed'; fence: number }
  | { type: 'ended'; fence: number; ending: AttemptEnd }
  | { type: 'cancelled' }
  | { type: 'skipped' }

/** The effect of an attempt's end on its run, decided by `endAttempt`. */
export type AttemptEnd =
  | { to: 'succeeded' }
  | { to: 'failed'; cause: Cause }
  | { to: 'cancelled'; cause: Cause }
  /** Another attempt after `delayMs`; `lost` is the number of attempts lost so far. */
  | { to: 'retry'; cause: Cause; delayMs: number; lost: number }
  /** Given back before it counted: same attempt number, and its old position in the queue. */
  | { to: 'given_back' }

export type Refused = { refused: string }

export function isRefused(outcome: RunPosition | Refused): outcome is Refused {
  return 'refused' in outcome
}

/**
 * Returns the next position for an event. A late or foreign report is normal, so a rejection is a value and not an
 * exception.
 */
export function transition(run: RunPosition, event: RunTransitionEvent): RunPosition | Refused {
  const { state, attempt } = run
  if (isFinal(state)) return refuse(`a ${state} run is final`)
  switch (event.type) {
    case 'came_due':
      if (state !== 'scheduled') return refuse(`a ${state} run is not waiting for a time`)
      return { state: event.gated ? 'blocked' : 'ready', attempt }
    case 'admitted':
      if (state !== 'blocked') return refuse(`a ${state} run is not waiting at a gate`)
      return { state: 'ready', attempt }
    case 'claimed':
      if (state !== 'ready') return refuse(`a ${state} run cannot be claimed`)
      return { state: 'running', attempt, fence: event.fence }
    case 'ended':
      if (state !== 'running') return refuse(`a ${state} run has no attempt to end`)
      if (event.fence !== run.fence) return refuse('another attempt holds this run now')
      return afterEnding(run, event.ending)
    case 'cancelled':
      if (state === 'running') return { ...run, cancelling: true }
      return { state: 'cancelled', attempt }
    case 'skipped':
      if (state !== 'blocked') return refuse(`a ${state} run cannot be skipped`)
      return { state: 'skipped', attempt }
  }
}

function afterEnding(run: RunPosition, ending: AttemptEnd): RunPosition | Refused {
  const { attempt } = run
  const fence = run.fence as number
  switch (ending.to) {
    case 'succeeded':
    case 'failed':
    case 'cancelled':
      return { state: ending.to, attempt, fence }
    case 'retry':
      if (run.cancelling) return refuse('a run being cancelled is not retried')
      return { state: ending.delayMs > 0 ? 'scheduled' : 'ready', attempt: attempt + 1 }
    case 'given_back':
      if (run.cancelling) return refuse('a run being cancelled is not given back')
      return { state: 'ready', attempt }
  }
}

function refuse(reason: string): Refused {
  return { refused: reason }
}
