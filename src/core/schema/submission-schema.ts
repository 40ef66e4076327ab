import { Type } from 'typebox'
import { NETWORKS, PULLS } from '../work/container-work.ts'
import { LIMITS, NAME } from '../limits.ts'
import { WANTED_OUTCOMES } from '../run/needs.ts'
import { UNKNOWN_JOB } from '../wire/protocol.ts'
import { BACKOFFS, RETRIABLE_CAUSES } from '../run/retry.ts'
import { SECRET_FORMS, type SecretInput } from '../secrets/secret.ts'
import {
  duration,
  fields,
  booleanField,
  fraction,
  id,
  labels,
  arrayOf,
  longText,
  name,
  numberBetween,
  oneOf,
  size,
  boundedText,
  time,
  wholeNumber,
} from './fields.ts'

const retry = fields({
  max: Type.Optional(wholeNumber(0, LIMITS.retries)),
  backoff: Type.Optional(oneOf(BACKOFFS)),
  delay: Type.Optional(duration()),
  max_delay: Type.Optional(duration()),
  jitter: Type.Optional(fraction()),
  on: Type.Optional(arrayOf(oneOf(RETRIABLE_CAUSES), RETRIABLE_CAUSES.length)),
})

const words = arrayOf(longText(), LIMITS.arguments)

const http = fields({
  url: longText(),
  method: Type.Optional(longText()),
  headers: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      maxProperties: LIMITS.headers,
      additionalProperties: { type: 'string', description: 'text' },
      description: `an object of at most ${LIMITS.headers} headers and their texts`,
    }),
  ),
  body: Type.Optional(longText()),
  json: Type.Optional(Type.Unknown()),
  expect: Type.Optional(boundedText(LIMITS.tagLength)),
  max_response: Type.Optional(size()),
  redirects: Type.Optional(wholeNumber(0, LIMITS.redirects)),
})

const mount = fields({
  source: longText(),
  target: longText(),
  readonly: Type.Optional(booleanField()),
})

const container = fields({
  image: longText(),
  command: Type.Optional(words),
  entrypoint: Type.Optional(words),
  mounts: Type.Optional(arrayOf(mount, LIMITS.mounts)),
  workdir: Type.Optional(longText()),
  user: Type.Optional(longText()),
  network: Type.Optional(oneOf(NETWORKS)),
  pull: Type.Optional(oneOf(PULLS)),
})

/** Combinations of fields are checked by `readWork`, which gives better error messages. */
const work = {
  run: Type.Optional(longText()),
  shell: Type.Optional(longText()),
  argv: Type.Optional(arrayOf(longText(), LIMITS.arguments)),
  script: Type.Optional(longText()),
  interpreter: Type.Optional(
    Type.Union([longText(), arrayOf(longText(), LIMITS.arguments)], {
      description: 'a program, or a list of a program and its arguments',
    }),
  ),
  http: Type.Optional(http),
  container: Type.Optional(container),
  cwd: Type.Optional(longText()),
  env: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      maxProperties: LIMITS.variables,
      additionalProperties: { type: 'string', description: 'text' },
      description: `an object of at most ${LIMITS.variables} variables and their texts`,
    }),
  ),
  stdin: Type.Optional(longText()),
  umask: Type.Optional(longText()),
  kill_grace: Type.Optional(duration()),
  limits: Type.Optional(
    fields({
      memory: Type.Optional(size()),
      cpu: Type.Optional(numberBetween(LIMITS.minCpu, LIMITS.maxCpu)),
      pids: Type.Optional(wholeNumber(1, LIMITS.maxPids)),
      files: Type.Optional(wholeNumber(LIMITS.minFiles, LIMITS.maxFiles)),
      output: Type.Optional(size()),
      tmp: Type.Optional(size()),
    }),
  ),
  run_as: Type.Optional(longText()),
}

const secret = Type.Unsafe<SecretInput>({
  anyOf: [{ type: 'string' }, fields({ name: longText(), as: Type.Optional(oneOf(SECRET_FORMS)) })],
  description: 'the name of a secret, or an object of its name and `as`',
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

/** Fields that a job sets for all its runs, and that one run may set. */
export const sharedFields = {
  queue: Type.Optional(name()),
  priority: Type.Optional(wholeNumber(-LIMITS.priority, LIMITS.priority)),
  runs_on: Type.Optional(fields({ labels: Type.Optional(labels()) })),
  weight: Type.Optional(wholeNumber(1, LIMITS.weight)),
  timeout: Type.Optional(duration()),
  retry: Type.Optional(retry),
  on_lost: Type.Optional(oneOf(['retry', 'fail'])),
  concurrency: Type.Optional(
    arrayOf(
      fields({ key: boundedText(LIMITS.keyLength), limit: wholeNumber(1, LIMITS.gateCapacity) }),
      LIMITS.gatesPerRun,
    ),
  ),
  tags: Type.Optional(tags),
}

/** Fields of a single run only. */
const single = {
  input: Type.Optional(Type.Unknown()),
  run_at: Type.Optional(time()),
  dedupe_key: Type.Optional(boundedText(LIMITS.keyLength)),
  idempotency_key: Type.Optional(boundedText(LIMITS.keyLength)),
  after: Type.Optional(
    arrayOf(
      fields({ run: id('run'), on: Type.Optional(oneOf(WANTED_OUTCOMES)) }),
      LIMITS.awaitedRuns,
      1,
    ),
  ),
}

/** The work to execute and its settings. */
export const executionFields = {
  task: Type.Optional(name()),
  ...work,
  secrets: Type.Optional(arrayOf(secret, LIMITS.secretsPerRun)),
}

export const SubmissionSchema = fields({
  job: Type.Optional(name()),
  unknown_job: Type.Optional(oneOf(UNKNOWN_JOB)),
  ...single,
  ...sharedFields,
  ...executionFields,
})

export const BatchSchema = fields({ runs: arrayOf(SubmissionSchema, LIMITS.batchRuns, 1) })

/** A run of a defined job: it cannot set the work to execute. */
export const JobRunSchema = fields({ ...single, ...sharedFields })
