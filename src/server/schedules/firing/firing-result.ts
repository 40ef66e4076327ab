import type { FireCommand, FireVerdict, NewRun, ScheduleRecord } from '../../../store/port.ts'

export type FiringResult = Extract<FireVerdict, { kind: 'done' }>

/** The runs of a firing. */
export function runsOf({ settled }: Pick<FireCommand, 'settled'>): NewRun[] {
  return settled.flatMap((time) => (time.kind === 'run' ? [time.run] : []))
}

/** The schedule as the store has it after the firing, without reading it. */
export function afterFire(
  schedule: ScheduleRecord,
  { settled, next }: FireCommand,
  { openRuns }: FiringResult,
): ScheduleRecord {
  const last = settled.at(-1)
  const lastNominalAt = last
    ? last.kind === 'run'
      ? last.nominalAt
      : last.untilAt
    : schedule.lastNominalAt
  const { skipNominalAt: skip } = schedule
  const isAhead = skip !== null && next.nominalAt !== null && skip >= next.nominalAt
  return {
    ...schedule,
    next,
    openRuns,
    lastNominalAt,
    pause: null,
    error: null,
    skipNominalAt: isAhead ? skip : null,
  }
}
