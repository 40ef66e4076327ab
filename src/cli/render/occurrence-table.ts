import { formatDuration } from '../../core/text/duration.ts'
import type { WireOccurrence, WireSchedule } from '../../core/schedule/definition/schedule-views.ts'
import type { Show } from '../terminal/output.ts'
import { instantIn } from './show-time.ts'
import { harmless, paint, showState, type Terminal } from '../terminal/terminal.ts'

/** One of the times of a job, with the schedule it is of. */
export interface Told extends WireOccurrence {
  readonly schedule: string
}

const GLYPHS: Readonly<Record<WireOccurrence['outcome'], string>> = {
  ...{ fired: '✔', delayed: '✔', blocked: '◷', due: '◷', planned: '◷', backfilled: '✔' },
  ...{ skipped: '⤼', merged: '⤼', missed: '◌' },
}

/** The times of a job, under titles; the schedule each is of is only told where there are several. */
export function occurrenceTable(
  terminal: Terminal,
  schedules: readonly WireSchedule[],
  told: readonly Told[],
): Show<Told> {
  const [first, ...others] = schedules
  const isOne = others.length === 0
  // Of several, each may have its own clocks: then those of whoever looks are the ones to compare by.
  const zone = (isOne && first?.definition.zone) || terminal.zone
  const clock = (time: string) => instantIn(time, zone, terminal.now())
  const offsets = new Set(told.map(({ nominal_at }) => clock(nominal_at).slice(-OFFSET)))
  const [offset = ''] = offsets
  const isPlain = offsets.size === 1
  // Room on a narrow terminal: no day of the week, and what is the same for all is said once.
  const time = (text: string) => clock(text).slice(WEEKDAY, isPlain ? -OFFSET - 1 : undefined)
  return {
    nameOf: ({ nominal_at }) => nominal_at,
    empty: 'It had no time to fire, and has none soon. When it does: punctual next',
    columns: [
      ...(isOne
        ? []
        : [{ title: 'SCHEDULE', show: ({ schedule }: Told) => schedule, gives: true }]),
      {
        title: isPlain ? `TIME ${offset}` : 'TIME',
        show: ({ nominal_at }) => time(nominal_at),
      },
      { title: 'OUTCOME', show: (one) => outcomeOf(one, terminal), gives: true },
      { title: 'WHY', show: (one) => harmless(whyOf(one)), gives: true },
      { title: 'LATE', show: ({ late_ms }) => (late_ms === null ? '-' : formatDuration(late_ms)) },
      { title: 'RUN', show: (one) => one.run ?? madeUpBy(one)?.run ?? one.other_run ?? '-' },
      {
        title: 'STATE',
        show: (one) => {
          const state = one.run_state ?? (one.run === null ? madeUpBy(one)?.run_state : null)
          return state ? showState(terminal, state) : '-'
        },
        gives: true,
      },
    ],
  }
}

const WEEKDAY = 'Sat '.length
const OFFSET = '+02:00'.length

function outcomeOf({ outcome, count }: WireOccurrence, terminal: Terminal): string {
  const many = count === 1 ? '' : ` ×${count ?? 'many'}`
  const text = `${GLYPHS[outcome]} ${outcome}${many}`
  return outcome === 'missed' ? paint(terminal, 'red', text) : text
}

/** Why a time did not simply become a run. */
export const REASONS: Readonly<Record<NonNullable<WireOccurrence['reason']>, string>> = {
  late: 'no node was quick enough',
  made_up: 'made up for',
  overlap: 'another run had not ended',
  asked: 'somebody asked for it',
  paused: 'paused',
  job_paused: 'its job is paused',
  edited: 'the schedule was changed',
  deleted: 'the schedule was deleted',
  policy: 'missed ones are not made up for',
  superseded: 'a later one was made up for',
  too_old: 'too old to be made up for',
  too_many: 'too many to be made up for',
  cannot_start: 'no run could be made',
}

/** The last run that a backfill made for a single time. */
function madeUpBy({ count, backfills }: WireOccurrence) {
  return count === 1 ? backfills.at(-1) : undefined
}

function whyOf(one: WireOccurrence): string {
  const { reason, detail, slow, overdue, lapses, backfills, outcome } = one
  const kinds = new Set(lapses.map(({ kind }) => kind))
  const said = [
    ...(reason === null ? [] : [REASONS[reason]]),
    ...(detail === null ? [] : [detail]),
    ...(kinds.has('late') ? ['started late'] : []),
    ...(slow || kinds.has('slow') ? ['slow'] : []),
    ...(overdue || kinds.has('unfinished') ? ['overdue'] : []),
    ...(kinds.has('empty') ? ['said nothing'] : []),
    ...(backfills.length > 0 && outcome !== 'backfilled' ? ['backfilled since'] : []),
  ]
  return said.join('; ') || '-'
}
