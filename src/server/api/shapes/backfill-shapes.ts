import { BACKFILL_STATES, ORDERS, WHICH } from '../../../core/schedule/backfill/backfill.ts'
import type { WireBackfill, WireBackfillPlan } from '../../../core/schedule/backfill/views.ts'
import { list, orNull, page, record, text, time, whole, word } from './shapes.ts'

const asked = {
  job: text('The job.'),
  schedule: text('Which of its schedules.'),
  from: time('The first time that may be made up for.'),
  until: time('The last one: never later than what has been decided by the schedule itself.'),
  order: word(ORDERS, 'Oldest first, or newest first.'),
  which: word(WHICH, 'Times that never became a run, those whose last run failed, or all.'),
  max_parallel: whole('So many of its runs may be open at once.'),
  per_minute: orNull(whole('So many may start in a minute.')),
  priority: { type: 'integer', description: 'Of its runs.' },
  times: whole('How many times of the schedule there are in the range.'),
}

/** Past times that become runs after all. */
export const BACKFILL_SHAPES = {
  Backfill: record<WireBackfill>('Past times of a schedule that become runs after all.', {
    ...asked,
    id: text('Its name for ever.', { pattern: '^bkf_[0-9a-z]{11}$' }),
    state: word(BACKFILL_STATES, '`done`: every time was dealt with and its runs have ended.'),
    made: whole('How many times became runs.'),
    passed: whole('How many times needed none.'),
    open: whole('How many of its runs had not ended when somebody last looked.'),
    error: orNull(text('Why it could not go on.')),
    created_at: time('When it was asked for.'),
    finished_at: orNull(time('When it was over.')),
  }),
  BackfillPage: page('Backfill'),
  BackfillPlan: record<WireBackfillPlan>('What a backfill would do.', {
    ...asked,
    dry_run: { type: 'boolean', const: true, description: 'Nothing was done.' },
    runs: whole('How many of the times would become runs.'),
    first: list({ type: 'string', format: 'date-time' }, 'The first of them, in order.'),
  }),
}
