import { Type } from 'typebox'
import { MAX_DURATION_MS } from '../../../core/text/duration.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { OutputEntry } from '../../../core/run/output.ts'
import { RETRIABLE_CAUSES } from '../../../core/run/retry.ts'
import { LIMIT_NAMES } from '../../../core/work/work-limits.ts'
import {
  executor,
  fields,
  booleanField,
  fraction,
  id,
  labels,
  arrayOf,
  longText,
  name,
  oneOf,
  boundedText,
  userName,
  wholeNumber,
} from '../../../core/schema/fields.ts'

/** A poll must end well before the request that carries it. */
export const MAX_POLL_WAIT_MS = 20_000

const attempt = { run: id('run'), fence: wholeNumber(0) }
const held = arrayOf(fields(attempt), LIMITS.slots)
/** Registrations and exchanges are 31-bit counters, which no worker exhausts. */
const MOST_COUNTED = 2 ** 31 - 1
const registration = wholeNumber(1, MOST_COUNTED)

export const HelloSchema = fields({
  name: name(),
  projects: Type.Optional(arrayOf(name(), LIMITS.queues)),
  queues: arrayOf(name(), LIMITS.queues, 1),
  labels: labels(),
  executors: arrayOf(executor(), LIMITS.executors, 1),
  features: Type.Optional(arrayOf(name(), LIMITS.labels)),
  slots: wholeNumber(1, LIMITS.slots),
  users: Type.Optional(arrayOf(userName(), LIMITS.users)),
  execution: Type.Optional(
    fields({
      launcher: name(),
      containment: name(),
      limits: arrayOf(name(), LIMIT_NAMES.length),
      secret_files: Type.Optional(name()),
      root: Type.Optional(Type.Boolean()),
      why: Type.Optional(boundedText(LIMITS.reasonLength)),
    }),
  ),
  protocol: Type.Optional(arrayOf(wholeNumber(1), 16, 1)),
  session: Type.Optional(id('ses')),
  registration,
  held,
  forsaken: held,
})

/** `checkEntries` checks its three items: there may be thousands of entries. */
const entry = Type.Unsafe<OutputEntry>({
  type: 'array',
  items: {},
  minItems: 3,
  maxItems: 3,
  description: 'a list of milliseconds, a stream (0, 1 or 2) and text',
})

/** Chunks of one attempt have 31-bit numbers. */
const MOST_CHUNKS = 2 ** 31 - 1

const output = fields({
  chunks: wholeNumber(0, MOST_CHUNKS),
  bytes: wholeNumber(0),
  dropped: Type.Optional(wholeNumber(0)),
  last: Type.Optional(arrayOf(entry, LIMITS.chunkEntries)),
})

const progress = {
  fraction: fraction(),
  message: Type.String({
    maxLength: LIMITS.progressLength,
    description: `text of at most ${LIMITS.progressLength} characters`,
  }),
}

const processEnd = fields({
  exit_code: Type.Optional(wholeNumber(0, 255)),
  signal: Type.Optional(
    Type.String({ pattern: '^SIG[A-Z0-9+]{2,12}$', description: 'a signal such as SIGKILL' }),
  ),
  containment: Type.Optional(name()),
  output: Type.Optional(output),
  progress: Type.Optional(fields({ ...progress, ms: wholeNumber(0, MAX_DURATION_MS) })),
})

const done = fields({
  ...attempt,
  outcome: oneOf(['succeeded', 'failed', 'cancelled', 'given_back']),
  cause: Type.Optional(oneOf(RETRIABLE_CAUSES)),
  message: Type.Optional(longText()),
  retriable: Type.Optional(booleanField()),
  result: Type.Optional(longText()),
  process: Type.Optional(processEnd),
})

export const ExchangeSchema = fields({
  registration,
  number: wholeNumber(1, MOST_COUNTED),
  answered: wholeNumber(0, MOST_COUNTED),
  done: arrayOf(done, LIMITS.slots),
  free: wholeNumber(0, LIMITS.slots),
  wait_ms: wholeNumber(0, MAX_POLL_WAIT_MS),
})

export const HeartbeatSchema = fields({
  registration,
  answered: wholeNumber(0, MOST_COUNTED),
  held,
  quarantined: Type.Optional(boundedText(LIMITS.reasonLength)),
})

export const LogSchema = fields({
  registration,
  chunks: arrayOf(
    fields({
      ...attempt,
      chunk: wholeNumber(0, MOST_CHUNKS - 1),
      entries: arrayOf(entry, LIMITS.chunkEntries, 1),
    }),
    LIMITS.logChunks,
  ),
  progress: Type.Optional(arrayOf(fields({ ...attempt, ...progress }), LIMITS.slots)),
})

export const LeaveSchema = fields({ registration })
