import type { FireCommand, FireVerdict, NewRun, ScheduleRecord } from '../../store/port.ts'

export type Fired = Extract<FireVerdict, { kind: 'done' }>

/** The runs a firing asks for. */
export function runsOf({ settled }: Pick<FireCommand, 'settled'>): NewRun[] {
  return settled.flatMap((time) => (time.kind === 'run' ? [time.run] : []))
}

/** The schedule as the store has it after firing, without asking. */
export function afterFire(
  schedule: ScheduleRecord,
  { settled, next }: FireCommand,
  { openRuns }: Fired,
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
    ...{ next, openRuns, lastNominalAt, pause: null, error: null },
    skipNominalAt: isAhead ? skip : null,
  }
}
