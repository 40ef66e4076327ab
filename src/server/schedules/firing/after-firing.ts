import type { Clock } from '../../../core/clock.ts'
import { MAX_LEAD_MS } from '../../../core/schedule/firing/early-firing.ts'
import type { ScheduleRecord, ScheduleStore } from '../../../store/port.ts'

/**
 * A time may have fired ahead. A later change of its schedule is answered only after that time, so
 * that a client never learns that a schedule is paused and then sees it start a run for a time that
 * had not come.
 */
export interface AfterFiring {
  /**
   * Resolves when the last fired times have come, including jitter. The schedules may have been
   * deleted, or have fired again, since they were read.
   */
  of(schedules: readonly Pick<ScheduleRecord, 'id' | 'lastNominalAt'>[]): Promise<void>
}

export function createAfterFiring(deps: {
  readonly store: Pick<ScheduleStore, 'occurrences'>
  readonly clock: Clock
  storeNow(): number
}): AfterFiring {
  const { store, clock, storeNow } = deps

  const lastFiredAt = async ({ id, lastNominalAt }: Parameters<AfterFiring['of']>[0][number]) => {
    const from = lastNominalAt ?? 0
    const until = Math.max(from, storeNow() + MAX_LEAD_MS)
    const records = await store.occurrences({ scheduleId: id, from, until, limit: 10 })
    return Math.max(0, ...records.map(({ at }) => at))
  }

  return {
    async of(schedules) {
      let lastAt = 0
      for (const schedule of schedules) lastAt = Math.max(lastAt, await lastFiredAt(schedule))
      const leftMs = lastAt - storeNow()
      // A longer wait means that the clock was set back, and then it was not fired ahead.
      if (leftMs > 0) await clock.sleep(Math.min(leftMs, MAX_LEAD_MS))
    },
  }
}
