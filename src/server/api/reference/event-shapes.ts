import { STATES } from '../../../core/run/run-state.ts'
import { STREAMS } from '../../logs/log-lines.ts'
import {
  nullableShape,
  refShape,
  runIdShape,
  type Shape,
  textShape,
  timeShape,
  integerShape,
  enumShape,
} from '../shapes/shapes.ts'
import type { StreamName } from '../http/route-docs.ts'

/** One kind of event, with the schema of its JSON `data`. */
interface Event {
  readonly description: string
  readonly properties: Readonly<Record<string, Shape>>
}

const entry: Shape = {
  type: 'array',
  minItems: 3,
  maxItems: 3,
  prefixItems: [
    integerShape('Milliseconds since the attempt started.'),
    enumShape(Object.values(STREAMS), 'Which stream; `punctual` for messages of the worker.'),
    textShape('A line with its end, or a part of one.'),
  ],
  items: {},
  description: '`[ms, stream, text]`.',
}
const attempt = integerShape('Which attempt.', { minimum: 1 })

const EVENTS: Readonly<Record<StreamName, Readonly<Record<string, Event>>>> = {
  'stream of a log': {
    output: {
      description: 'Something was printed.',
      properties: {
        attempt,
        started_at: timeShape('When the attempt started.'),
        entries: { type: 'array', items: entry, description: 'What was printed, in order.' },
      },
    },
    skipped: {
      description: 'With `skip=true`: parts were left out because this reader was too slow.',
      properties: { attempt, chunks: integerShape('How many parts.') },
    },
    end: {
      description: 'The run has ended, and all of its output was sent. The stream ends.',
      properties: {
        state: enumShape(STATES, 'How it ended.'),
        exit_code: nullableShape({ type: 'integer', description: 'Of the process, if it exited.' }),
        signal: nullableShape(textShape('The signal that ended the process, if one did.')),
      },
    },
  },
  'stream of runs': {
    hello: { description: 'The stream has begun.', properties: {} },
    run: {
      description: 'A run changed: as lists show it, without `work`, `input` and `result`.',
      properties: {
        id: runIdShape('The run.'),
        job: textShape('Its job.'),
        state: enumShape(STATES, 'Its current state.'),
      },
    },
    'run.progress': {
      description: 'A run reports progress.',
      properties: { id: runIdShape('The run.'), progress: refShape('Progress') },
    },
    reset: {
      description: 'Events may have been missed: read the displayed data again.',
      properties: { reason: textShape('Why, for people.') },
    },
  },
}

export function isEventStream(what: string): what is StreamName {
  return Object.hasOwn(EVENTS, what)
}

/**
 * The stream is text; `contentSchema` describes its content after decoding the server-sent events.
 */
export function eventStreamSchema(name: StreamName): Shape {
  return {
    type: 'string',
    description: `Server-sent events: ${Object.keys(EVENTS[name]).join(', ')}.`,
    contentMediaType: 'text/event-stream',
    contentSchema: {
      type: 'array',
      items: {
        oneOf: Object.entries(EVENTS[name]).map(([event, shape]) => eventSchema(event, shape)),
      },
    },
  }
}

function eventSchema(event: string, { description, properties }: Event): Shape {
  return {
    type: 'object',
    required: ['event', 'data'],
    description,
    properties: {
      event: { type: 'string', const: event, description: 'The kind of event.' },
      id: textShape('The position to continue from, as `Last-Event-ID`.'),
      data: {
        type: 'string',
        description: 'JSON.',
        contentMediaType: 'application/json',
        contentSchema: { type: 'object', required: Object.keys(properties), properties },
      },
    },
  }
}
