import { Type } from 'typebox'
import { MAX_DURATION_MS } from '../../../core/text/duration.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { Entry } from '../../../core/run/output.ts'
import { RETRIABLE_CAUSES } from '../../../core/run/retry.ts'
import { LIMIT_NAMES } from '../../../core/work/work-limits.ts'
import {
  executor,
  fields,
  flag,
  fraction,
  id,
  labels,
  list,
  longText,
  name,
  oneOf,
  text,
  userName,
  wholeNumber,
} from '../../../core/schema/fields.ts'

/** A poll must be over well before the request that carries it. */
export const MAX_WAIT_MS = 20_000

const attempt = { run: id('run'), fence: wholeNumber(0) }
const held = list(fields(attempt), LIMITS.slots)
const registration = wholeNumber(1)

export const Hello = fields({
  name: name(),
  projects: Type.Optional(list(name(), LIMITS.queues)),
  queues: list(name(), LIMITS.queues, 1),
  labels: labels(),
  executors: list(executor(), LIMITS.executors, 1),
  features: Type.Optional(list(name(), LIMITS.labels)),
  slots: wholeNumber(1, LIMITS.slots),
  users: Type.Optional(list(userName(), LIMITS.users)),
  execution: Type.Optional(
    fields({
      launcher: name(),
      containment: name(),
      limits: list(name(), LIMIT_NAMES.length),
      root: Type.Optional(Type.Boolean()),
      why: Type.Optional(text(LIMITS.reasonLength)),
    }),
  ),
  protocol: Type.Optional(list(wholeNumber(1), 16, 1)),
  session: Type.Optional(id('ses')),
  registration,
  held,
  forsaken: held,
})

/** What is in its three places is looked at by `checkEntries`: there may be thousands of these. */
const entry = Type.Unsafe<Entry>({
  type: 'array',
  minItems: 3,
  maxItems: 3,
  description: 'a list of milliseconds, a stream (0, 1 or 2) and text',
})

/** Chunks of one attempt are counted in 31 bits. */
const MOST_CHUNKS = 2 ** 31 - 1

const output = fields({
  chunks: wholeNumber(0, MOST_CHUNKS),
  bytes: wholeNumber(0),
  dropped: Type.Optional(wholeNumber(0)),
  last: Type.Optional(list(entry, LIMITS.chunkEntries)),
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
  retriable: Type.Optional(flag()),
  result: Type.Optional(longText()),
  process: Type.Optional(processEnd),
})

export const Exchange = fields({
  registration,
  number: wholeNumber(1),
  answered: wholeNumber(0),
  done: list(done, LIMITS.slots),
  free: wholeNumber(0, LIMITS.slots),
  wait_ms: wholeNumber(0, MAX_WAIT_MS),
})

export const Heartbeat = fields({
  registration,
  answered: wholeNumber(0),
  held,
  quarantined: Type.Optional(text(LIMITS.reasonLength)),
})

export const Log = fields({
  registration,
  chunks: list(
    fields({
      ...attempt,
      chunk: wholeNumber(0, MOST_CHUNKS - 1),
      entries: list(entry, LIMITS.chunkEntries, 1),
    }),
    LIMITS.logChunks,
  ),
  progress: Type.Optional(list(fields({ ...attempt, ...progress }), LIMITS.slots)),
})

export const Leave = fields({ registration })
