import type { LoopOutcome } from '../../loops/run-loop.ts'
import type { ScheduleStore } from '../../../store/port.ts'
import type { NodeSignals } from '../../signals/signals.ts'
import { createDueSchedules } from './due-schedules.ts'
import type { DueEntry } from './due-window.ts'
import { createFiringPlanner, type FiringPlannerDeps } from './firing-planner.ts'
import {
  createFiringSender,
  type FireTime,
  type FiringSenderDeps,
  nextTurn,
  type PlannedFiring,
} from './firing-sender.ts'
import { createNextBatch } from './next-batch.ts'
import type { ScheduleRewinder } from './schedule-rewinder.ts'

/** How long a schedule is left alone whose rule cannot be read. */
const UNREADABLE_MS = 3_600_000
const LONGEST_NAP_MS = 1_000

export interface FiringDeps extends FiringPlannerDeps, FiringSenderDeps {
  readonly store: FiringPlannerDeps['store'] &
    FiringSenderDeps['store'] &
    Pick<ScheduleStore, 'dueSchedules' | 'findSchedules' | 'schedulesFollowing' | 'liveNodes'>
  /** Runs before everything else: times ahead of the clock must not fire. */
  readonly rewinding: Pick<ScheduleRewinder, 'step'>
  /** The monotonic clock, for durations. */
  mono(): number
  /** Whether this node is in contact with the store: only then may it use its ids and its clock. */
  mayFire(): boolean
  readonly signals: Pick<NodeSignals, 'schedulesDue' | 'lanesReady' | 'runsChanged'>
}

export interface Firing {
  /** Fires due schedules, as many as fit into one transaction. */
  step(): Promise<LoopOutcome>
  /** These schedules were changed on this node and may be due before the next read. */
  changed(ids: readonly number[]): void
  /** A run that may belong to a schedule has ended. */
  ended(runId: number): void
  /** The node was out of contact with the store: everything in memory is discarded. */
  forget(): void
  /** The trusted time has changed. */
  clockMoved(): void
}

export function createFiring(deps: FiringDeps): Firing {
  const { store, storeNow } = deps
  const due = createDueSchedules(deps)
  const planner = createFiringPlanner(deps)
  const send = createFiringSender(due, deps)
  const next = createNextBatch({ window: due.window, storeNow })

  const fire = async (entries: readonly DueEntry[], when: FireTime): Promise<void> => {
    const { at: now } = when
    const schedules = entries.map(({ schedule }) => schedule)
    const firings: PlannedFiring[] = []
    for (const [schedule, plan] of await planner.plan(schedules, now)) {
      if (typeof plan === 'string') {
        const { id, version } = schedule
        await store.failSchedule({ id, version, error: plan, checkAt: now + UNREADABLE_MS })
      } else firings.push([schedule, plan])
    }
    await send(firings, when)
  }

  /** Fires what is due, if anything; returns the number of schedules. */
  const fireBatch = async (): Promise<number> => {
    const begunMono = deps.mono()
    const { due: entries, ...when } = next.take()
    try {
      if (entries.length > 0) await fire(entries, when)
    } catch (error) {
      // Only the store knows whether it happened: the next attempt finds out.
      for (const { schedule } of entries) due.retry(schedule)
      throw error
    }
    // Runs that have just fired are claimed before the store gets the next batch.
    if (entries.length > 0) await nextTurn()
    next.took(entries.length, deps.mono() - begunMono)
    return entries.length
  }

  return {
    async step() {
      if (!deps.mayFire()) return { more: false, idleMs: LONGEST_NAP_MS }
      if (await deps.rewinding.step()) return { more: true }
      await due.refresh()
      const fired = await fireBatch()
      const hasPrepared = fired === 0 && (await planner.prepareSome(due.window))
      const now = storeNow()
      const dueAt = next.beginAt()
      const nextAt = Math.min(dueAt, due.readAt)
      const more = fired > 0 || hasPrepared || due.hasUnread || dueAt <= now
      return { more, idleMs: Math.min(LONGEST_NAP_MS, Math.max(1, nextAt - now)) }
    },

    changed(ids) {
      due.changed(ids)
      deps.signals.schedulesDue()
    },
    ended(runId) {
      due.ended(runId)
      deps.signals.schedulesDue()
    },
    forget: due.forget,
    clockMoved() {
      due.clockMoved()
      deps.signals.schedulesDue()
    },
  }
}
