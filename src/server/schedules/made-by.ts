import { publicId } from '../../core/ids.ts'
import type { RunRecord, ScheduleStore } from '../../store/port.ts'
import type { Catalog } from '../catalog.ts'
import type { MadeBy } from '../why.ts'

/** The schedule that made a run, and for which time. Only runs that had a time may be of one. */
export async function madeBy(
  { id, dueAt }: RunRecord,
  {
    store,
    catalog,
  }: {
    store: Pick<ScheduleStore, 'occurrenceOf' | 'findSchedules'>
    catalog: Pick<Catalog, 'jobName' | 'learnNames'>
  },
): Promise<MadeBy | null> {
  const occurrence = dueAt === null ? null : await store.occurrenceOf({ runId: id })
  if (!occurrence) return null
  const { scheduleId, nominalAt, reason } = occurrence
  const [found] = await store.findSchedules([scheduleId])
  if (found) await catalog.learnNames([found.jobId], [])
  const schedule = found
    ? `${catalog.jobName(found.jobId)}/${found.name}`
    : publicId('sch', scheduleId)
  return { scheduleId, schedule, nominalAt, reason }
}
