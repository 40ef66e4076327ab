import type { NextLook, ScheduleRevision } from './port.ts'

/** A schedule as it is, in the transaction that would change it. */
interface Current {
  readonly id: number
  readonly version: number
  readonly lastNominalAt: number | null
}

/** Whether the schedules of a job still are what somebody decided by. Both stores ask before they write. */
export function stillHolds({ seen, puts }: ScheduleRevision, rows: readonly Current[]): boolean {
  const current = new Map(rows.map((row) => [row.id, row]))
  const isSame = seen.every(({ id, version }) => current.get(id)?.version === version)
  if (!isSame || seen.length !== rows.length) return false
  return puts.every(({ id, next }) => isAhead(next, current.get(id)?.lastNominalAt ?? null))
}

/** No time comes twice: what is next must be after the last one that has fired. */
export function isAhead({ nominalAt }: NextLook, lastNominalAt: number | null): boolean {
  return nominalAt === null || lastNominalAt === null || nominalAt > lastNominalAt
}
