import { OCCURRENCE_REASONS } from '../../../core/schedule/firing/occurrence.ts'
import { VIOLATION_KINDS } from '../../../core/expectation/violation.ts'
import {
  CLOCK_EFFECTS,
  SCHEDULE_STATES,
  SCHEDULE_WHY_CODES,
  SHOWN_OUTCOMES,
  type WireAway,
  type WireAwaySchedule,
  type WireBackfilledRun,
  type WireClockChange,
  type WireViolation,
  type WireNext,
  type WireNextTimes,
  type WireOccurrence,
  type WirePlannedTime,
  type WirePreview,
  type WireSchedule,
  type WireScheduleWhy,
} from '../../../core/schedule/definition/schedule-views.ts'
import {
  booleanShape,
  listShape,
  nullableShape,
  pageShape,
  objectShape,
  refShape,
  runIdShape,
  type Shape,
  textShape,
  timeShape,
  integerShape,
  enumShape,
} from './shapes.ts'

const scheduleId = (description: string): Shape =>
  textShape(description, { pattern: '^sch_[0-9a-z]{11}$', examples: ['sch_00f3k9m2q7x'] })

const plannedTime = {
  at: timeShape('When, in UTC.'),
  local: textShape('The same in local time of its zone.', {
    examples: ['2026-03-29T09:00:00+03:00'],
  }),
}

const some = (description: string) =>
  integerShape(`${description} An uncounted range counts as one.`)

/** Schedules, and the outcomes of their times. */
export const SCHEDULE_SHAPES = {
  Schedule: objectShape<WireSchedule>('A schedule of a job.', {
    id: scheduleId('Its permanent id; another schedule with the same name has another id.'),
    job: textShape('The job it runs.'),
    name: textShape('Unique within its job.'),
    version: integerShape('Counted from 1; every change by a user increments it.', {
      minimum: 1,
    }),
    definition: refShape('ScheduleDefinition'),
    words: textShape('The rule in words.', {
      examples: ['weekdays at 09:05, Europe/Athens'],
    }),
    state: enumShape(
      SCHEDULE_STATES,
      '`ended`: it has no future time. `error`: this server cannot read its rule.',
    ),
    next: nullableShape(timeShape('The next time that is expected to become a run.')),
    last: nullableShape(timeShape('The last time with an outcome.')),
    skipping: nullableShape(timeShape('A future time that a user chose to skip.')),
    paused: nullableShape(
      objectShape<NonNullable<WireSchedule['paused']>>('Set while it is paused.', {
        since: timeShape('Since when.'),
        until: nullableShape(timeShape('End of the pause; null if it lasts until resumed.')),
        reason: nullableShape(textShape('The given reason.')),
        by_job: booleanShape('Whether the reason is that its job is paused.'),
      }),
    ),
    error: nullableShape(textShape('Why its rule cannot be read.')),
    declared: booleanShape(
      'It is part of the definition of its job, and is deleted when removed there.',
    ),
    updated_at: timeShape('When it was last changed.'),
    updated_by: textShape('The name of the token that changed it.'),
  }),
  SchedulePage: pageShape('Schedule'),
  Occurrence: objectShape<WireOccurrence>(
    'A time of a schedule, or a range of times with the same outcome.',
    {
      nominal_at: timeShape('The nominal time; the first one of a range.'),
      until: timeShape('The end of the range; the same for a single time.'),
      count: nullableShape(integerShape('How many times; null for too many to count.')),
      outcome: enumShape(
        SHOWN_OUTCOMES,
        'Its outcome. `due`: the time has come, without an outcome yet. `planned`: a future time. ' +
          '`backfilled`: a time before the schedule existed, with a backfilled run.',
      ),
      reason: nullableShape(
        enumShape(OCCURRENCE_REASONS, 'Why it was not simply `fired`, or will not be.'),
      ),
      detail: nullableShape(textShape('Details of the reason.')),
      run: nullableShape(runIdShape('The run it became.')),
      run_state: nullableShape(textShape('The current state of that run; null if it was pruned.')),
      other_run: nullableShape(
        runIdShape('The run it waited for, was skipped for, was merged with or replaced.'),
      ),
      late_ms: nullableShape(integerShape('How late the run was made.')),
      started_at: nullableShape(timeShape('When the run started.')),
      finished_at: nullableShape(timeShape('When it ended.')),
      slow: nullableShape({
        type: 'boolean',
        description: 'Its run took longer than `expect` says.',
      }),
      overdue: nullableShape({
        type: 'boolean',
        description: 'Its run had not ended by the `deadline`.',
      }),
      lapses: listShape(
        objectShape<WireViolation>('A violated expectation.', {
          kind: enumShape(
            VIOLATION_KINDS,
            '`late`: it had not started in time. `slow`: it ran for longer than it should. ' +
              '`unfinished`: it had not ended by the deadline. `empty`: it succeeded, but printed nothing and gave no result.',
          ),
          due_at: timeShape('When it should have started or ended; for `empty`, when it ended.'),
          noticed_at: timeShape('When the violation was detected.'),
        }),
        'Violated expectations of its run.',
      ),
      backfills: listShape(
        objectShape<WireBackfilledRun>('A backfilled run for a time.', {
          nominal_at: timeShape('The time it is for.'),
          run: runIdShape('The run.'),
          run_state: nullableShape(
            textShape('The current state of that run; null if it was pruned.'),
          ),
          backfill: textShape('The backfill that made it.', { pattern: '^bkf_[0-9a-z]{11}$' }),
        }),
        'Backfilled runs; of a range, the first 100 of them.',
      ),
    },
  ),
  OccurrencePage: pageShape('Occurrence'),
  NextTime: objectShape<WireNext>('A time at which a schedule fires.', {
    ...plannedTime,
    job: textShape('The job.'),
    schedule: textShape('Which of its schedules.'),
    words: textShape('The rule in words.'),
  }),
  NextTimeList: objectShape<WireNextTimes>('The next times.', {
    data: listShape(refShape('NextTime'), 'The earliest first.'),
    complete: booleanShape(
      'False if the server has more schedules than one request examines (20,000): then others ' +
        'may fire earlier.',
    ),
  }),
  Preview: objectShape<WirePreview>('What a schedule would do.', {
    words: textShape('The rule in words.'),
    definition: refShape('ScheduleDefinition'),
    next: listShape(
      objectShape<WirePlannedTime>('A time.', plannedTime),
      'The first times from now on.',
    ),
    clock_changes: listShape(
      objectShape<WireClockChange>('A clock change in its zone.', {
        at: timeShape('When.'),
        from_offset: textShape('The UTC offset before.', { examples: ['+02:00'] }),
        to_offset: textShape('The UTC offset after.', { examples: ['+03:00'] }),
        effect: enumShape(
          CLOCK_EFFECTS,
          'Its effect: none, skipped local times fire after the jump, they are left ' +
            'out, repeated local times fire once, or twice.',
        ),
        sentence: textShape('The effect in words.'),
        fires: listShape(
          objectShape<WirePlannedTime>('A time.', plannedTime),
          'When it fires because of it.',
        ),
      }),
      'All clock changes within a year from now.',
    ),
  }),
  AwaySchedule: objectShape<WireAwaySchedule>('Unusual outcomes of one schedule.', {
    id: scheduleId('Which schedule.'),
    job: nullableShape(textShape('Its job; null if it was deleted since.')),
    name: nullableShape(textShape('Its name; null if it was deleted since.')),
    missed: some('Times without a run because no server was running.'),
    merged: some('Times merged into a run that was already waiting.'),
    skipped: some('Times skipped by a user or by the overlap policy.'),
    late: some('Times whose run was made late.'),
    made_up: some('Missed times that became a run later.'),
    blocked: some('Times whose run had to wait for an earlier one.'),
    reasons: {
      type: 'object',
      additionalProperties: { type: 'integer' },
      description: 'Why, and how many times.',
    },
    first_at: timeShape('The earliest of these times.'),
    last_at: timeShape('The latest of them.'),
  }),
  Away: objectShape<WireAway>('Missed, skipped and late times in a period.', {
    since: timeShape('Since when.'),
    until: timeShape('End of the period: now.'),
    complete: booleanShape('False if there were too many times: then only the latest are counted.'),
    schedules: listShape(refShape('AwaySchedule'), 'Schedules with such times.'),
  }),
  ScheduleWhy: objectShape<WireScheduleWhy>('Why a schedule fires or does not.', {
    job: textShape('Its job.'),
    schedule: textShape('Its name.'),
    state: enumShape(SCHEDULE_STATES, 'How it is.'),
    code: enumShape(SCHEDULE_WHY_CODES, 'The reason, for programs.'),
    sentence: textShape('The reason in words.'),
    details: listShape({ type: 'string' }, 'Further details.'),
    fixes: listShape({ type: 'string' }, 'Commands that would change it.'),
  }),
}
