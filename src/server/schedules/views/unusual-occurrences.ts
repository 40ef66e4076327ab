import { hasRun, type OccurrenceReason } from '../../../core/schedule/firing/occurrence.ts'
import { publicId } from '../../../core/ids.ts'
import type { WireAwaySchedule } from '../../../core/schedule/definition/schedule-views.ts'
import { formatTime } from '../../../core/wire/runs.ts'
import type { OccurrenceRecord, ScheduleStore } from '../../../store/port.ts'

const PAGE = 500
/** More than this would not be read by a user, so it is not read from the store. */
const MOST = 10_000

/** Times of a project that did not simply fire since a given time, latest first. */
export async function unusualOccurrencesSince(
  store: Pick<ScheduleStore, 'unusualOccurrences'>,
  projectId: number,
  since: number,
): Promise<{ records: OccurrenceRecord[]; complete: boolean }> {
  const records: OccurrenceRecord[] = []
  while (records.length < MOST) {
    const before = records.at(-1) ?? null
    const page = await store.unusualOccurrences({ projectId, before, limit: PAGE })
    const recent = page.filter(({ at }) => at >= since)
    records.push(...recent)
    if (recent.length < page.length || page.length < PAGE) return { records, complete: true }
  }
  return { records, complete: false }
}

/** Number of times of one schedule by outcome. */
export function countOutcomes(
  records: readonly OccurrenceRecord[],
  { id, job, name }: { id: number; job: string | null; name: string | null },
): WireAwaySchedule {
  const sum = (holds: (record: OccurrenceRecord) => boolean) =>
    records.filter(holds).reduce((total, { count }) => total + (count ?? 1), 0)
  const reasons: Partial<Record<OccurrenceReason, number>> = {}
  for (const { reason, count } of records) {
    if (reason !== null) reasons[reason] = (reasons[reason] ?? 0) + (count ?? 1)
  }
  const isMadeUp = ({ outcome, reason }: OccurrenceRecord) =>
    hasRun(outcome) && reason === 'made_up'
  return {
    id: publicId('sch', id),
    job,
    name,
    missed: sum(({ outcome }) => outcome === 'missed'),
    merged: sum(({ outcome }) => outcome === 'merged'),
    skipped: sum(({ outcome }) => outcome === 'skipped'),
    late: sum((record) => record.outcome === 'delayed' && !isMadeUp(record)),
    made_up: sum(isMadeUp),
    blocked: sum(({ outcome }) => outcome === 'blocked'),
    reasons,
    first_at: formatTime(Math.min(...records.map(({ nominalAt }) => nominalAt)), 'first_at'),
    last_at: formatTime(Math.max(...records.map(({ untilAt }) => untilAt)), 'last_at'),
  }
}
