import { publicId } from '../../core/ids.ts'
import type { BackfillStore, RunRecord, ScheduleStore } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import type { MadeBy } from '../explanations/why-run.ts'

/** The schedule that made a run, and for which time. Only runs that had a time may be of one. */
export async function madeBy(
  { id, dueAt }: RunRecord,
  {
    store,
    catalog,
  }: {
    store: Pick<ScheduleStore, 'occurrenceOf' | 'findSchedules'> &
      Pick<BackfillStore, 'backfilledBy'>
    catalog: Pick<Catalog, 'jobName' | 'learnNames'>
  },
): Promise<MadeBy | null> {
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
