import {
  BACKFILL_STATES,
  BACKFILL_ORDERS,
  BACKFILL_SELECTIONS,
} from '../../../core/schedule/backfill/backfill.ts'
import type { WireBackfill, WireBackfillPlan } from '../../../core/schedule/backfill/views.ts'
import {
  listShape,
  nullableShape,
  pageShape,
  objectShape,
  textShape,
  timeShape,
  integerShape,
  enumShape,
} from './shapes.ts'

const asked = {
  job: textShape('The job.'),
  schedule: textShape('Which of its schedules.'),
  from: timeShape('The first included time.'),
  until: timeShape(
    'The last included time: never later than the last time the schedule itself has handled.',
  ),
  order: enumShape(BACKFILL_ORDERS, 'Oldest first, or newest first.'),
  which: enumShape(
    BACKFILL_SELECTIONS,
    'Times without a run, those whose last run failed, or all.',
  ),
  max_parallel: integerShape('Maximum number of its unfinished runs.'),
  per_minute: nullableShape(integerShape('Maximum number of starts per minute.')),
  priority: { type: 'integer', description: 'Of its runs.' },
  times: integerShape('How many times of the schedule there are in the range.'),
}

/** Backfills: runs for past times of schedules. */
export const BACKFILL_SHAPES = {
  Backfill: objectShape<WireBackfill>('Runs for past times of a schedule.', {
    ...asked,
    id: textShape('Its permanent id.', { pattern: '^bkf_[0-9a-z]{11}$' }),
    state: enumShape(BACKFILL_STATES, '`done`: every time was handled and its runs have ended.'),
    made: integerShape('How many times became runs.'),
    passed: integerShape('How many times needed none.'),
    open: integerShape('How many of its runs were unfinished at the last check.'),
    error: nullableShape(textShape('Why it could not continue.')),
    created_at: timeShape('When it was requested.'),
    finished_at: nullableShape(timeShape('When it ended.')),
  }),
  BackfillPage: pageShape('Backfill'),
  BackfillPlan: objectShape<WireBackfillPlan>('What a backfill would do.', {
    ...asked,
    dry_run: { type: 'boolean', const: true, description: 'Nothing was done.' },
    runs: integerShape('How many of the times would become runs.'),
    first: listShape({ type: 'string', format: 'date-time' }, 'The first of them, in order.'),
  }),
}
