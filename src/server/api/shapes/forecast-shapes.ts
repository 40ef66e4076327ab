import type {
  WireClockNight,
  WireCollision,
  WireForecast,
  WireForecastBar,
  WireForecastSchedule,
} from '../../../core/schedule/forecast/views.ts'
import {
  booleanShape,
  listShape,
  nullableShape,
  objectShape,
  refShape,
  textShape,
  timeShape,
  integerShape,
} from './shapes.ts'

const noticed = (description: string) => integerShape(`How many: ${description}`)

/** Forecasts. */
export const FORECAST_SHAPES = {
  ForecastBar: objectShape<WireForecastBar>('The forecast for an hour or a day.', {
    at: timeShape('When it begins.'),
    fires: integerShape('How many runs are to start.'),
    busy: {
      type: 'number',
      minimum: 0,
      description:
        'How many runs are under way on average, if they take as long as the last ones did. Of a day: ' +
        'in its fullest hour.',
    },
  }),
  Forecast: objectShape<WireForecast>('What schedules will do.', {
    from: timeShape('From when: now.'),
    until: timeShape('Until when.'),
    complete: booleanShape('False if there are more schedules than one forecast covers.'),
    fires: integerShape('How many runs will start in total.'),
    schedules: listShape(
      objectShape<WireForecastSchedule>('What one schedule will do.', {
        job: textShape('Its job.'),
        schedule: textShape('Its name.'),
        words: textShape('The rule in words.'),
        fires: integerShape(
          'How often. Approximate for a schedule that follows the end of its run.',
        ),
        duration_ms: nullableShape(
          integerShape('How long its runs take; null if none of the latest succeeded.'),
        ),
      }),
      'Those that fire most often, first.',
    ),
    more: integerShape('How many schedules are left out of that list.'),
    bars: listShape(
      refShape('ForecastBar'),
      'One after the other; hours and days are those of UTC.',
    ),
    bar_ms: integerShape('How long a bar is: an hour up to three days ahead, a day beyond.'),
    busiest: listShape(refShape('ForecastBar'), 'The hours with the most concurrent runs.'),
    collisions: listShape(
      objectShape<WireCollision>(
        'Schedules that fire in the same second; those with jitter do not.',
        {
          at: timeShape('The first time.'),
          times: integerShape('How often.'),
          schedules: integerShape('How many.'),
          names: listShape({ type: 'string' }, 'Some of them, as job/schedule.'),
        },
      ),
      'The largest ones, in descending order.',
    ),
    clock_changes: listShape(
      objectShape<WireClockNight>('The clocks of a zone change.', {
        at: timeShape('When.'),
        zone: textShape('The zone.', { examples: ['Europe/Athens'] }),
        from_offset: textShape('The UTC offset before.', { examples: ['+02:00'] }),
        to_offset: textShape('The UTC offset after.', { examples: ['+03:00'] }),
        schedules: integerShape('How many schedules use this zone.'),
        moved: noticed('a time that does not exist fires when the clocks have jumped.'),
        left_out: noticed('a time that does not exist is left out.'),
        once: noticed('a repeated time fires once.'),
        twice: noticed('a repeated time fires twice.'),
      }),
      'Every change there is until then, in zones that schedules name.',
    ),
  }),
}
