import type { Clock, Random } from '../../core/clock.ts'
import { drawSalt, fenceOf } from '../../core/run/fence.ts'
import type { NewRun } from '../../store/port.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { NodeSignals } from '../signals/signals.ts'
import type { Session } from '../sessions/session.ts'
import { leaseOfAssignment, releasePromise } from './grants.ts'
import { createWaitingSessionFinder } from './find-waiting-session.ts'
import type { ScheduledAssignment, ScheduledAssignments } from './scheduled-assignments.ts'
import type { LaneIndex } from './lanes/lane-index.ts'

/**
 * Runs that are written by another transaction than a tick, already promised to waiting sessions.
 */
export interface DirectAssignment {
  /**
   * The transaction is durable. The runs in `started` were leased at time `now` of the store; the
   * others were not. If `aheadMs` is positive, workers learn of them only after that time. Resolves
   * when they have.
   */
  committed(started: readonly number[], now: number, aheadMs?: number): Promise<void>
  /** The transaction failed, or its outcome is unknown. */
  failed(isUnknown: boolean): void
}

/**
 * Chooses waiting sessions for new runs that may start at once, and writes the session into the
 * runs.
 */
export type AssignDirectly = (runs: readonly NewRun[]) => DirectAssignment

export interface DirectAssignmentDeps {
  readonly sessionIndex: SessionIndex
  readonly laneIndex: LaneIndex
  readonly clock: Clock
  readonly random: Random
  node(): number
  mayGrant(): boolean
  readonly scheduled: Pick<ScheduledAssignments, 'schedule'>
  readonly signals: Pick<NodeSignals, 'commitUnknown'>
}

const NO_ASSIGNMENT: DirectAssignment = { committed: async () => {}, failed: () => {} }

export function createDirectAssignment(deps: DirectAssignmentDeps): AssignDirectly {
  const { sessionIndex, laneIndex, clock, random } = deps

  const choose = (runs: readonly NewRun[]): Map<NewRun, Session> => {
    const chosen = new Map<NewRun, Session>()
    // A session that could serve queued runs serves those first, in the next tick.
    const sessionFor = createWaitingSessionFinder(
      { sessionIndex, laneIndex, mono: clock.mono() },
      (_, view) => view.open().length > 0,
    )
    for (const run of runs) {
      const hint = run.after === undefined ? laneIndex.get(run.laneId) : undefined
      const session = hint && sessionFor(hint)
      run.reservation = session
        ? { session: session.id, fence: fenceOf(1, drawSalt(random)) }
        : null
      if (!session) continue
      session.promised += hint.lane.weight
      chosen.set(run, session)
    }
    for (const session of new Set(chosen.values())) sessionIndex.requeue(session)
    return chosen
  }

  const weightOf = ({ laneId }: NewRun) => laneIndex.get(laneId)?.lane.weight ?? 1

  return (runs) => {
    if (!deps.mayGrant()) {
      for (const run of runs) run.reservation = null
      return NO_ASSIGNMENT
    }
    const node = deps.node()
    const chosen = choose(runs)
    if (chosen.size === 0) return NO_ASSIGNMENT
    return {
      committed(started, now, aheadMs = 0) {
        const touched = new Set<Session>()
        const went = new Set(started)
        const grants: ScheduledAssignment[] = []
        for (const [run, session] of chosen) {
          const weight = weightOf(run)
          if (went.has(run.id))
            grants.push({ session, lease: leaseOfAssignment(run, node, now), weight })
          else releasePromise(session, weight, touched)
        }
        for (const session of touched) sessionIndex.updateWaiting(session)
        return deps.scheduled.schedule(grants, aheadMs)
      },
      failed(isUnknown) {
        const touched = new Set<Session>()
        for (const [run, session] of chosen) releasePromise(session, weightOf(run), touched)
        for (const session of touched) sessionIndex.updateWaiting(session)
        if (isUnknown) deps.signals.commitUnknown({ submits: [...chosen.keys()], claims: [] })
      },
    }
  }
}
