import type {
  WireClockNight,
  WireCollision,
  WireForecast,
  WireForecastBar,
  WireForecastSchedule,
} from '../../../core/schedule/forecast/views.ts'
import { flag, list, orNull, record, ref, text, time, whole } from './shapes.ts'

const noticed = (description: string) => whole(`How many: ${description}`)

/** What is going to happen. */
export const FORECAST_SHAPES = {
  ForecastBar: record<WireForecastBar>('What is to happen in an hour, or in a day.', {
    at: time('When it begins.'),
    fires: whole('How many runs are to start.'),
    busy: {
      type: 'number',
      minimum: 0,
      description:
        'How many runs are under way on average, if they take as long as the last ones did. Of a day: ' +
        'in its fullest hour.',
    },
  }),
  Forecast: record<WireForecast>('What schedules are going to do.', {
    from: time('From when: now.'),
    until: time('Until when.'),
    complete: flag('False if there are more schedules than one forecast takes in.'),
    fires: whole('How many runs are to start in all.'),
    schedules: list(
      record<WireForecastSchedule>('What one schedule is going to do.', {
        job: text('Its job.'),
        schedule: text('Its name.'),
        words: text('When it fires, for people.'),
        fires: whole('How often. Of one that follows the end of its run, about.'),
        duration_ms: orNull(whole('How long its runs take; null if none of the last succeeded.')),
      }),
      'Those that fire most often, first.',
    ),
    more: whole('How many schedules are left out of that list.'),
    bars: list(ref('ForecastBar'), 'One after the other; hours and days are those of UTC.'),
    bar_ms: whole('How long a bar is: an hour up to three days ahead, a day beyond.'),
    busiest: list(ref('ForecastBar'), 'The hours in which most is under way.'),
    collisions: list(
      record<WireCollision>('Schedules that fire in the same second; those with jitter do not.', {
        at: time('The first time.'),
        times: whole('How often.'),
        schedules: whole('How many.'),
        names: list({ type: 'string' }, 'Some of them, as job/schedule.'),
      }),
      'The largest ones, in descending order.',
    ),
    clock_changes: list(
      record<WireClockNight>('The clocks of a zone change.', {
        at: time('When.'),
        zone: text('Whose clocks.', { examples: ['Europe/Athens'] }),
        from_offset: text('How far they were ahead of UTC.', { examples: ['+02:00'] }),
        to_offset: text('How far they are from then on.', { examples: ['+03:00'] }),
        schedules: whole('How many schedules live by them.'),
        moved: noticed('a time that does not exist fires when the clocks have jumped.'),
        left_out: noticed('a time that does not exist is left out.'),
        once: noticed('a time that comes twice fires once.'),
        twice: noticed('a time that comes twice fires twice.'),
      }),
      'Every change there is until then, in zones that schedules name.',
    ),
  }),
}
