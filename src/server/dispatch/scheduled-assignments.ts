import type { Clock } from '../../core/clock.ts'
import type { Lease } from '../../store/port.ts'
import type { Session } from '../sessions/session.ts'
import type { LaneBoard } from './lane-index.ts'
import { grant, type Granting, release, settle } from './grants.ts'

/** A lease that is durable, and whom it was promised to. */
export interface HeldGrant {
  readonly session: Session
  readonly lease: Lease
  readonly weight: number
}

/**
 * Grants that are durable before their time: nobody hears of them until it has come. All that start at one
 * instant go out together, before anything that follows from the first of them is in the way of the rest.
 */
export interface HeldGrants {
  /**
   * Hands them over after so long, and resolves when that is done; less than nothing: their time was so
   * long ago. They are all of one incarnation.
   */
  keep(grants: readonly HeldGrant[], ms: number): Promise<void>
  /** This node stops: those that are left go back uncounted. */
  giveBack(): Promise<void>
}

export interface HoldingGrants extends Pick<Granting, 'roster' | 'onGrant'> {
  readonly board: Pick<LaneBoard, 'get'>
  readonly clock: Clock
  node(): number
  mayGrant(): boolean
  giveBack(leases: readonly Lease[]): Promise<void>
  onError(error: unknown): void
}

/** Those of one instant. */
interface Kept {
  readonly startedAt: number
  readonly parts: { readonly grants: readonly HeldGrant[]; done(): void }[]
  atMono: number
}

/** What is known of one instant by several answers differs by as long as they took; more is a clock that was set. */
const ALIKE_MS = 100
/** Whoever is told so long after the instant would seem to have started at it: a claim says when it really did. */
const LATE_MS = 1_000

export function createHeldGrants(deps: HoldingGrants): HeldGrants {
  const { roster, board, clock } = deps
  let kept: Kept[] = []
  let alarm = new AbortController()
  let isAwake = false

  const handOver = (grants: readonly HeldGrant[], atMono: number) => {
    const [first] = grants
    if (!first) return
    const touched = new Set<Session>()
    const back: Lease[] = []
    const mono = clock.mono()
    const isInTime = mono - atMono <= LATE_MS
    const granting: Granting = {
      ...{ roster, onGrant: deps.onGrant, mono },
      mayGrant: isInTime && deps.mayGrant() && deps.node() === first.lease.node,
      giveBack: (lease) => back.push(lease),
    }
    for (const { session, lease, weight } of grants) {
      release(session, weight, touched)
      // Who was cancelled meanwhile does not start, nor where the queue was paused or there is no room any
      // more: the worker may be draining.
      const isHalted = lease.cancelling || board.get(lease.laneId)?.isResting
      if (isHalted || session.credit < weight) back.push(lease)
      else attempt(() => grant(session, lease, weight, granting))
    }
    if (back.length > 0) deps.giveBack(back).catch(deps.onError)
    for (const session of touched) attempt(() => settle([session], roster))
  }

  /** What goes wrong with one must not keep the others. */
  const attempt = (work: () => void) => {
    try {
      work()
    } catch (error) {
      deps.onError(error)
    }
  }

  const handOverDue = () => {
    const mono = clock.mono()
    const due = kept.filter(({ atMono }) => atMono <= mono)
    kept = kept.filter(({ atMono }) => atMono > mono)
    for (const { parts, atMono } of due) {
      for (const { grants } of parts) attempt(() => handOver(grants, atMono))
    }
    for (const { parts } of due) for (const { done } of parts) done()
  }

  const instantOf = (startedAt: number, atMono: number): Kept => {
    const isIt = (one: Kept) =>
      one.startedAt === startedAt && Math.abs(one.atMono - atMono) < ALIKE_MS
    const known = kept.find(isIt)
    if (known) return known
    const instant: Kept = { startedAt, parts: [], atMono }
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
        handOverDue()
      }
    } finally {
      isAwake = false
    }
  }

  return {
    keep(grants, ms) {
      const [first] = grants
      const atMono = clock.mono() + ms
      if (ms <= 0 || !first) {
        handOver(grants, atMono)
        return Promise.resolve()
      }
      // Whoever cancels one of them, or compares them with the store, finds them.
      for (const { lease } of grants) roster.expect(lease, atMono)
      return new Promise((done) => {
        const instant = instantOf(first.lease.startedAt, atMono)
        instant.parts.push({ grants, done })
        // None of the answers is early, so the quickest is the best.
        instant.atMono = Math.min(instant.atMono, atMono)
        // It may come before those that are waited for.
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
