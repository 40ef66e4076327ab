import { publicId } from '../../core/ids.ts'
import type { BackfillStore, RunRecord, ScheduleStore } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { OccurrenceReason } from '../../core/schedule/firing/occurrence.ts'

export interface ScheduleOrigin {
  readonly scheduleId: number
  /** `etl/nightly`, or its id if it is deleted. */
  readonly schedule: string
  readonly nominalAt: number
  readonly reason: OccurrenceReason | null
  /** The backfill that made it, if any. */
  readonly backfillId: number | null
}

/**
 * The schedule that made a run, and for which time. Only runs with a due time can belong to one.
 */
export async function madeBy(
  { id, dueAt }: RunRecord,
  {
    store,
    catalog,
  }: {
    store: Pick<ScheduleStore, 'occurrenceOf' | 'findSchedules'> &
      Pick<BackfillStore, 'backfilledBy'>
    catalog: Pick<CatalogCache, 'jobName' | 'learnNames'>
  },
): Promise<ScheduleOrigin | null> {
  if (dueAt === null) return null
  const occurrence = await store.occurrenceOf({ runId: id })
  const backfilled = occurrence ? null : await store.backfilledBy({ runId: id })
  const time = occurrence ?? backfilled
  if (!time) return null
  const { scheduleId, nominalAt } = time
  const [found] = await store.findSchedules([scheduleId])
  if (found) await catalog.learnNames([found.jobId], [])
  const schedule = found
    ? `${catalog.jobName(found.jobId)}/${found.name}`
    : publicId('sch', scheduleId)
  const reason = occurrence?.reason ?? null
  return { scheduleId, schedule, nominalAt, reason, backfillId: backfilled?.backfillId ?? null }
}
