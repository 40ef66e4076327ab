import { formatDuration } from '../../core/text/duration.ts'
import type { WireOccurrence, WireSchedule } from '../../core/schedule/definition/schedule-views.ts'
import type { Show } from '../terminal/output.ts'
import { instantIn } from './show-time.ts'
import { harmless, paint, showState, type Terminal } from '../terminal/terminal.ts'

/** An occurrence with the name of its schedule. */
export interface OccurrenceRow extends WireOccurrence {
  readonly schedule: string
}

const GLYPHS: Readonly<Record<WireOccurrence['outcome'], string>> = {
  fired: '✔',
  delayed: '✔',
  blocked: '◷',
  due: '◷',
  planned: '◷',
  backfilled: '✔',
  skipped: '⤼',
  merged: '⤼',
  missed: '◌',
}

/** A table of occurrences; the schedule is shown only if there are several. */
export function occurrenceTable(
  terminal: Terminal,
  schedules: readonly WireSchedule[],
  rows: readonly OccurrenceRow[],
): Show<OccurrenceRow> {
  const [first, ...others] = schedules
  const isOne = others.length === 0
  // Several schedules may use different zones: show their times in the user's zone.
  const zone = (isOne && first?.definition.zone) || terminal.zone
  const clock = (time: string) => instantIn(time, zone, terminal.now())
  const offsets = new Set(rows.map(({ nominal_at }) => clock(nominal_at).slice(-OFFSET)))
  const [offset = ''] = offsets
  const isPlain = offsets.size === 1
  // For narrow terminals: without the weekday, and without an offset that all rows share.
  const time = (text: string) => clock(text).slice(WEEKDAY, isPlain ? -OFFSET - 1 : undefined)
  return {
    nameOf: ({ nominal_at }) => nominal_at,
    empty: 'No times in this range, and none soon. For later times: punctual next',
    columns: [
      ...(isOne
        ? []
        : [{ title: 'SCHEDULE', show: ({ schedule }: OccurrenceRow) => schedule, shrinks: true }]),
      {
        title: isPlain ? `TIME ${offset}` : 'TIME',
        show: ({ nominal_at }) => time(nominal_at),
      },
      { title: 'OUTCOME', show: (one) => outcomeOf(one, terminal), shrinks: true },
      { title: 'WHY', show: (one) => harmless(whyOf(one)), shrinks: true },
      { title: 'LATE', show: ({ late_ms }) => (late_ms === null ? '-' : formatDuration(late_ms)) },
      { title: 'RUN', show: (one) => one.run ?? backfilledBy(one)?.run ?? one.other_run ?? '-' },
      {
        title: 'STATE',
        show: (one) => {
          const state = one.run_state ?? (one.run === null ? backfilledBy(one)?.run_state : null)
          return state ? showState(terminal, state) : '-'
        },
        shrinks: true,
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

/** Why a time did not become a run in the ordinary way. */
export const REASONS: Readonly<Record<NonNullable<WireOccurrence['reason']>, string>> = {
  late: 'started late: no node fired it in time',
  made_up: 'caught up',
  overlap: 'another run had not ended',
  asked: 'requested by a user',
  paused: 'paused',
  job_paused: 'its job is paused',
  edited: 'the schedule was changed',
  deleted: 'the schedule was deleted',
  policy: 'missed times are not caught up',
  superseded: 'a later time was caught up instead',
  too_old: 'too old to be caught up',
  too_many: 'too many to be caught up',
  cannot_start: 'no run could be created',
  clock_set_back: 'void: the clock was ahead and has been set back',
}

/** The last run that a backfill created for a single time. */
function backfilledBy({ count, backfills }: WireOccurrence) {
  return count === 1 ? backfills.at(-1) : undefined
}

function whyOf(one: WireOccurrence): string {
  const { reason, detail, slow, overdue, lapses, backfills, outcome } = one
  const kinds = new Set(lapses.map(({ kind }) => kind))
  const notes = [
    ...(reason === null ? [] : [REASONS[reason]]),
    ...(detail === null ? [] : [detail]),
    ...(kinds.has('late') && reason !== 'late' ? ['started late'] : []),
    ...(slow || kinds.has('slow') ? ['slow'] : []),
    ...(overdue || kinds.has('unfinished') ? ['overdue'] : []),
    ...(kinds.has('empty') ? ['no output'] : []),
    ...(backfills.length > 0 && outcome !== 'backfilled' ? ['backfilled since'] : []),
  ]
  return notes.join('; ') || '-'
}
