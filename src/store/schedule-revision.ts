import type { NextCheck, ScheduleRevision } from './port.ts'

/** A schedule as it is in the transaction that would change it. */
interface Current {
  readonly id: number
  readonly version: number
  readonly lastNominalAt: number | null
}

/**
 * Whether the schedules of a job are still the ones the revision was decided on. Both stores check
 * this before they write.
 */
export function isRevisionCurrent(
  { seen, puts }: ScheduleRevision,
  rows: readonly Current[],
): boolean {
  const current = new Map(rows.map((row) => [row.id, row]))
  const isSame = seen.every(({ id, version }) => current.get(id)?.version === version)
  if (!isSame || seen.length !== rows.length) return false
  return puts.every(({ id, next }) =>
    isAfterLastFired(next, current.get(id)?.lastNominalAt ?? null),
  )
}

/** No time fires twice: the next one must be after the last one that fired. */
export function isAfterLastFired({ nominalAt }: NextCheck, lastNominalAt: number | null): boolean {
  return nominalAt === null || lastNominalAt === null || nominalAt > lastNominalAt
}
