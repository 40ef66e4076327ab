import { Type } from 'typebox'
import { NETWORKS, PULLS } from '../work/container-work.ts'
import { LIMITS, NAME } from '../limits.ts'
import { WANTED } from '../run/needs.ts'
import { BACKOFFS, RETRIABLE_CAUSES } from '../run/retry.ts'
import { SECRET_FORMS, type SecretInput } from '../work/secret.ts'
import {
  duration,
  fields,
  flag,
  fraction,
  id,
  labels,
  list,
  longText,
  name,
  numberBetween,
  oneOf,
  size,
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

const words = list(longText(), LIMITS.arguments)

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
  expect: Type.Optional(text(LIMITS.tagLength)),
  max_response: Type.Optional(size()),
  redirects: Type.Optional(wholeNumber(0, LIMITS.redirects)),
})

const mount = fields({
  source: longText(),
  target: longText(),
  readonly: Type.Optional(flag()),
})

const container = fields({
  image: longText(),
  command: Type.Optional(words),
  entrypoint: Type.Optional(words),
  mounts: Type.Optional(list(mount, LIMITS.mounts)),
  workdir: Type.Optional(longText()),
  user: Type.Optional(longText()),
  network: Type.Optional(oneOf(NETWORKS)),
  pull: Type.Optional(oneOf(PULLS)),
})

/** What belongs together is decided by `readWork`, which knows the better words for it. */
const work = {
  run: Type.Optional(longText()),
  shell: Type.Optional(longText()),
  argv: Type.Optional(list(longText(), LIMITS.arguments)),
  script: Type.Optional(longText()),
  interpreter: Type.Optional(
    Type.Union([longText(), list(longText(), LIMITS.arguments)], {
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
      cpu: Type.Optional(numberBetween(LIMITS.leastCpu, LIMITS.mostCpu)),
      pids: Type.Optional(wholeNumber(1, LIMITS.mostPids)),
      files: Type.Optional(wholeNumber(LIMITS.leastFiles, LIMITS.mostFiles)),
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

/** What may be said about every run of a job, and about one run. */
export const shared = {
  queue: Type.Optional(name()),
  priority: Type.Optional(wholeNumber(-LIMITS.priority, LIMITS.priority)),
  runs_on: Type.Optional(fields({ labels: Type.Optional(labels()) })),
  weight: Type.Optional(wholeNumber(1, LIMITS.weight)),
  timeout: Type.Optional(duration()),
  retry: Type.Optional(retry),
  on_lost: Type.Optional(oneOf(['retry', 'fail'])),
  concurrency: Type.Optional(
    list(
      fields({ key: text(LIMITS.keyLength), limit: wholeNumber(1, LIMITS.gateCapacity) }),
      LIMITS.gatesPerRun,
    ),
  ),
  tags: Type.Optional(tags),
}

/** What belongs to one run alone. */
const single = {
  input: Type.Optional(Type.Unknown()),
  run_at: Type.Optional(time()),
  dedupe_key: Type.Optional(text(LIMITS.keyLength)),
  idempotency_key: Type.Optional(text(LIMITS.keyLength)),
  after: Type.Optional(
    list(fields({ run: id('run'), on: Type.Optional(oneOf(WANTED)) }), LIMITS.awaitedRuns, 1),
  ),
}

/** What is executed, and with what. */
export const executed = {
  task: Type.Optional(name()),
  ...work,
  secrets: Type.Optional(list(secret, LIMITS.secretsPerRun)),
}

export const Submission = fields({
  job: Type.Optional(name()),
  ...single,
  ...shared,
  ...executed,
})

export const Batch = fields({ runs: list(Submission, LIMITS.batchRuns, 1) })

/** A run of a job that is defined: what is executed is not its to say. */
export const JobRun = fields({ ...single, ...shared })
