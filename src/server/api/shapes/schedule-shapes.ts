import { REASONS } from '../../../core/schedule/firing/occurrence.ts'
import { LAPSES } from '../../../core/expectation/violation.ts'
import {
  CLOCK_EFFECTS,
  SCHEDULE_STATES,
  SCHEDULE_WHY_CODES,
  SHOWN_OUTCOMES,
  type WireAway,
  type WireAwaySchedule,
  type WireBackfilledRun,
  type WireClockChange,
  type WireLapse,
  type WireNext,
  type WireNextTimes,
  type WireOccurrence,
  type WirePlannedTime,
  type WirePreview,
  type WireSchedule,
  type WireScheduleWhy,
} from '../../../core/schedule/definition/schedule-views.ts'
import {
  flag,
  list,
  orNull,
  page,
  record,
  ref,
  runId,
  type Shape,
  text,
  time,
  whole,
  word,
} from './shapes.ts'

const scheduleId = (description: string): Shape =>
  text(description, { pattern: '^sch_[0-9a-z]{11}$', examples: ['sch_00f3k9m2q7x'] })

const plannedTime = {
  at: time('When, in UTC.'),
  local: text('The same on the clocks of its zone.', { examples: ['2026-03-29T09:00:00+03:00'] }),
}

const some = (description: string) => whole(`${description} A range that nobody counted is one.`)

/** Schedules, and what becomes of their times. */
export const SCHEDULE_SHAPES = {
  Schedule: record<WireSchedule>('A schedule of a job.', {
    id: scheduleId('Its name for ever; another schedule of the same name has another.'),
    job: text('The job it runs.'),
    name: text('Unique within its job.'),
    version: whole('Counted from 1; everything people do to it is a new one.', { minimum: 1 }),
    definition: ref('ScheduleDefinition'),
    words: text('When it fires, for people.', { examples: ['weekdays at 09:05, Europe/Athens'] }),
    state: word(
      SCHEDULE_STATES,
      '`ended`: it has no time to come. `error`: this server cannot read its rule.',
    ),
    next: orNull(time('The next time that shall become a run, as far as anybody knows.')),
    last: orNull(time('The last time anything became of.')),
    skipping: orNull(time('A time to come that somebody asked to skip.')),
    paused: orNull(
      record<NonNullable<WireSchedule['paused']>>('Set while it does not fire.', {
        since: time('Since when.'),
        until: orNull(time('Until when; null if somebody has to resume it.')),
        reason: orNull(text('What was given as the reason.')),
        by_job: flag('Because its job is paused.'),
      }),
    ),
    error: orNull(text('Why its rule cannot be read.')),
    declared: flag('It stands in the definition of its job, and goes when it no longer does.'),
    updated_at: time('When it was changed last.'),
    updated_by: text('The name of the token it was changed with.'),
  }),
  SchedulePage: page('Schedule'),
  Occurrence: record<WireOccurrence>('A time of a schedule, or a range that all went one way.', {
    nominal_at: time('When it was to fire, or is; the first of a range.'),
    until: time('The end of the range; the same for a single time.'),
    count: orNull(whole('How many times; null for more than anybody counted.')),
    outcome: word(
      SHOWN_OUTCOMES,
      'What became of it. `due`: it came, and nothing has become of it yet. `planned`: it is to come. ' +
        '`backfilled`: it was before the schedule was there, and has a run since.',
    ),
    reason: orNull(word(REASONS, 'Why it is not simply `fired`, or what will keep it from it.')),
    detail: orNull(text('More about the reason.')),
    run: orNull(runId('The run it became.')),
    run_state: orNull(text('The state of that run now; null if it is forgotten.')),
    other_run: orNull(runId('The run it waited for, gave way to, was merged with or replaced.')),
    late_ms: orNull(whole('How long after it should have the run was made.')),
    started_at: orNull(time('When the run started.')),
    finished_at: orNull(time('When it ended.')),
    slow: orNull({ type: 'boolean', description: 'Its run took longer than `expect` says.' }),
    overdue: orNull({ type: 'boolean', description: 'Its run had not ended by the `deadline`.' }),
    lapses: list(
      record<WireLapse>('Something that did not come true.', {
        kind: word(
          LAPSES,
          '`late`: it had not started in time. `slow`: it ran for longer than it should. ' +
            '`unfinished`: it had not ended by the deadline. `empty`: it succeeded, but printed nothing and gave no result.',
        ),
        due_at: time('When it should have started, or ended; of an empty one, when it did.'),
        noticed_at: time('When that was seen.'),
      }),
      'What did not come true of what is expected of its run.',
    ),
    backfills: list(
      record<WireBackfilledRun>('A run that makes up for a time.', {
        nominal_at: time('For which time.'),
        run: runId('The run.'),
        run_state: orNull(text('The state of that run now; null if it is forgotten.')),
        backfill: text('The backfill that made it.', { pattern: '^bkf_[0-9a-z]{11}$' }),
      }),
      'Runs that backfills made for it since; of a range, the first 100 of them.',
    ),
  }),
  OccurrencePage: page('Occurrence'),
  NextTime: record<WireNext>('A time at which something fires.', {
    ...plannedTime,
    job: text('The job.'),
    schedule: text('Which of its schedules.'),
    words: text('When that fires, for people.'),
  }),
  NextTimeList: record<WireNextTimes>('What fires next.', {
    data: list(ref('NextTime'), 'The earliest first.'),
    complete: flag(
      'False if the server has more schedules than one answer looks through (20,000): then others ' +
        'may fire earlier.',
    ),
  }),
  Preview: record<WirePreview>('What a schedule would do.', {
    words: text('When it would fire, for people.'),
    definition: ref('ScheduleDefinition'),
    next: list(record<WirePlannedTime>('A time.', plannedTime), 'The first times from now on.'),
    clock_changes: list(
      record<WireClockChange>('A change of the clocks of its zone.', {
        at: time('When.'),
        from_offset: text('How far they were ahead of UTC.', { examples: ['+02:00'] }),
        to_offset: text('How far they are from then on.', { examples: ['+03:00'] }),
        effect: word(
          CLOCK_EFFECTS,
          'What it does: nothing, times between fire when the clocks have jumped, they are left ' +
            'out, times that come twice fire once, or twice.',
        ),
        sentence: text('The same for people.'),
        fires: list(
          record<WirePlannedTime>('A time.', plannedTime),
          'When it fires because of it.',
        ),
      }),
      'All there are within a year from now.',
    ),
  }),
  AwaySchedule: record<WireAwaySchedule>('What did not simply fire of one schedule.', {
    id: scheduleId('Which schedule.'),
    job: orNull(text('Its job; null if it was deleted since.')),
    name: orNull(text('Its name; null if it was deleted since.')),
    missed: some('Times nobody was there for, that became no run.'),
    merged: some('Times for which a run that waited already stands as well.'),
    skipped: some('Times that somebody, or the overlap policy, wanted no run for.'),
    late: some('Times that became a run later than they should have.'),
    made_up: some('Times that were missed and became a run all the same.'),
    blocked: some('Times whose run had to wait for an earlier one.'),
    reasons: {
      type: 'object',
      additionalProperties: { type: 'integer' },
      description: 'Why, and how many times.',
    },
    first_at: time('The earliest of these times.'),
    last_at: time('The latest of them.'),
  }),
  Away: record<WireAway>('What did not simply fire since a time.', {
    since: time('Since when.'),
    until: time('Until when: now.'),
    complete: flag('False if there was too much: then it is about the latest part of it.'),
    schedules: list(ref('AwaySchedule'), 'Those that have something to tell.'),
  }),
  ScheduleWhy: record<WireScheduleWhy>('Why a schedule fires or does not.', {
    job: text('Its job.'),
    schedule: text('Its name.'),
    state: word(SCHEDULE_STATES, 'How it is.'),
    code: word(SCHEDULE_WHY_CODES, 'The reason, for programs.'),
    sentence: text('The reason, for people.'),
    details: list({ type: 'string' }, 'What else is known.'),
    fixes: list({ type: 'string' }, 'What would change it.'),
  }),
}
