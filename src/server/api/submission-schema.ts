import { Type } from 'typebox'
import { LIMITS, NAME } from '../../core/limits.ts'
import { BACKOFFS, RETRIABLE_CAUSES } from '../../core/retry.ts'
import {
  duration,
  executor,
  fields,
  fraction,
  label,
  list,
  name,
  oneOf,
  text,
  time,
  wholeNumber,
} from './fields.ts'

const retry = fields({
  max: Type.Optional(wholeNumber(0, LIMITS.retries)),
  backoff: Type.Optional(oneOf(BACKOFFS)),
  delay: Type.Optional(duration()),
  max_delay: Type.Optional(duration()),
  jitter: Type.Optional(fraction()),
  on: Type.Optional(list(oneOf(RETRIABLE_CAUSES), RETRIABLE_CAUSES.length)),
})

const tags = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: LIMITS.tags,
  propertyNames: { type: 'string', pattern: NAME.source },
  additionalProperties: {
    type: 'string',
    maxLength: LIMITS.tagLength,
    description: `text of at most ${LIMITS.tagLength} characters`,
  },
  description: `an object of at most ${LIMITS.tags} tags, each a name and its text`,
})

export const Submission = fields({
  job: name(),
  input: Type.Optional(Type.Unknown()),
  queue: Type.Optional(name()),
  priority: Type.Optional(wholeNumber(-LIMITS.priority, LIMITS.priority)),
  run_at: Type.Optional(time()),
  labels: Type.Optional(list(label(), LIMITS.labels)),
  weight: Type.Optional(wholeNumber(1, LIMITS.weight)),
  executor: Type.Optional(executor()),
  timeout: Type.Optional(duration()),
  retry: Type.Optional(retry),
  on_lost: Type.Optional(oneOf(['retry', 'fail'])),
  concurrency: Type.Optional(
    list(
      fields({ key: text(LIMITS.keyLength), limit: wholeNumber(1, LIMITS.gateCapacity) }),
      LIMITS.gatesPerRun,
    ),
  ),
  dedupe_key: Type.Optional(text(LIMITS.keyLength)),
  idempotency_key: Type.Optional(text(LIMITS.keyLength)),
  tags: Type.Optional(tags),
})

export const Batch = fields({ runs: list(Submission, LIMITS.batchRuns, 1) })
