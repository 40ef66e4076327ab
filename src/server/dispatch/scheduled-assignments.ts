import type { Clock } from '../../core/clock.ts'
import type { Lease } from '../../store/port.ts'
import type { Session } from '../sessions/session.ts'
import type { LaneIndex } from './lanes/lane-index.ts'
import { grantLease, type GrantContext, releasePromise, settleSessions } from './grants.ts'

/** A durable lease and the session it was promised to. */
export interface ScheduledAssignment {
  readonly session: Session
  readonly lease: Lease
  readonly weight: number
}

/**
 * Leases that are durable before their start time: workers learn of them only then. All leases of
 * one instant are delivered together, before the follow-up work of the first one can delay the
 * rest.
 */
export interface ScheduledAssignments {
  /**
   * Delivers the grants after this time and resolves when that is done; a negative value: their
   * time has passed. All grants belong to one incarnation.
   */
  schedule(grants: readonly ScheduledAssignment[], ms: number): Promise<void>
  /** The node stops: the remaining leases are returned uncounted. */
  giveBack(): Promise<void>
}

export interface ScheduledAssignmentsDeps extends Pick<GrantContext, 'sessionIndex' | 'onGrant'> {
  readonly laneIndex: Pick<LaneIndex, 'get'>
  readonly clock: Clock
  node(): number
  mayGrant(): boolean
  giveBack(leases: readonly Lease[]): Promise<void>
  onError(error: unknown): void
}

/** The assignments of one instant. */
interface ScheduledBatch {
  readonly startedAt: number
  readonly parts: { readonly grants: readonly ScheduledAssignment[]; done(): void }[]
  atMono: number
}

/**
 * Answers about one instant differ by their duration; a larger difference means that a clock was
 * set.
 */
const SAME_INSTANT_MS = 100
/**
 * A run delivered later than this would seem to have started on time: a claim records the real
 * start.
 */
const MAX_LATE_MS = 1_000

export function createScheduledAssignments(deps: ScheduledAssignmentsDeps): ScheduledAssignments {
  const { sessionIndex, clock } = deps
  let kept: ScheduledBatch[] = []
  let alarm = new AbortController()
  let isAwake = false

  const deliverDue = () => {
    const mono = clock.mono()
    const due = kept.filter(({ atMono }) => atMono <= mono)
    kept = kept.filter(({ atMono }) => atMono > mono)
    for (const { parts, atMono } of due) {
      for (const { grants } of parts) attempt(() => deliver(grants, atMono, deps), deps)
    }
    for (const { parts } of due) for (const { done } of parts) done()
  }

  const instantOf = (startedAt: number, atMono: number): ScheduledBatch => {
    const isIt = (one: ScheduledBatch) =>
      one.startedAt === startedAt && Math.abs(one.atMono - atMono) < SAME_INSTANT_MS
    const known = kept.find(isIt)
    if (known) return known
    const instant: ScheduledBatch = { startedAt, parts: [], atMono }
    kept.push(instant)
    return instant
  }

  const watch = async () => {
    if (isAwake) return
    isAwake = true
    try {
      while (kept.length > 0) {
        const nextMono = Math.min(...kept.map(({ atMono }) => atMono))
        alarm = new AbortController()
        await clock.sleep(nextMono - clock.mono(), alarm.signal)
        deliverDue()
      }
    } finally {
      isAwake = false
    }
  }

  return {
    schedule(grants, ms) {
      const [first] = grants
      const atMono = clock.mono() + ms
      if (ms <= 0 || !first) {
        deliver(grants, atMono, deps)
        return Promise.resolve()
      }
      // A cancel request, or the comparison with the store, finds them.
      for (const { lease } of grants) sessionIndex.expectLease(lease, atMono)
      return new Promise((done) => {
        const instant = instantOf(first.lease.startedAt, atMono)
        instant.parts.push({ grants, done })
        // No answer is early, so the quickest one is the best.
        instant.atMono = Math.min(instant.atMono, atMono)
        // Its start time may be earlier than the current timer's.
        alarm.abort('another')
        void watch()
      })
    },
    async giveBack() {
      const left = kept.flatMap(({ parts }) => parts.flatMap(({ grants }) => grants))
      kept = []
      alarm.abort('stopped')
      await deps.giveBack(left.map(({ lease }) => lease))
    },
  }
}

/** Hands over the leases of one instant; those that cannot start are returned. */
function deliver(
  grants: readonly ScheduledAssignment[],
  atMono: number,
  deps: ScheduledAssignmentsDeps,
): void {
  const { sessionIndex, laneIndex, clock } = deps
  const [first] = grants
  if (!first) return
  const touched = new Set<Session>()
  const back: Lease[] = []
  const mono = clock.mono()
  const isInTime = mono - atMono <= MAX_LATE_MS
  const granting: GrantContext = {
    sessionIndex,
    onGrant: deps.onGrant,
    mono,
    mayGrant: isInTime && deps.mayGrant() && deps.node() === first.lease.node,
    giveBack: (lease) => back.push(lease),
  }
  for (const { session, lease, weight } of grants) {
    releasePromise(session, weight, touched)
    // A run that was cancelled meanwhile does not start, nor one of a paused queue or of a worker
    // without free slots: it may be draining.
    const isHalted = lease.cancelling || laneIndex.get(lease.laneId)?.isPaused
    if (isHalted || session.credit < weight) back.push(lease)
    else attempt(() => grantLease(session, lease, weight, granting), deps)
  }
  if (back.length > 0) deps.giveBack(back).catch(deps.onError)
  for (const session of touched) attempt(() => settleSessions([session], sessionIndex), deps)
}

/** An error with one assignment must not affect the others. */
function attempt(work: () => void, { onError }: Pick<ScheduledAssignmentsDeps, 'onError'>): void {
  try {
    work()
  } catch (error) {
    onError(error)
  }
}
