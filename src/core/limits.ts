/** The bounds of what the scheduler accepts. Docs and errors quote these numbers. */
export const LIMITS = {
  nameLength: 128,
  /** As JSON. What is larger than the inline limit is kept outside the row. */
  inputBytes: 8 * 1024 * 1024,
  resultBytes: 8 * 1024 * 1024,
  inlineBytes: 64 * 1024,
  messageBytes: 8 * 1024,
  keyLength: 255,
  reasonLength: 500,
  descriptionLength: 10_000,
  logLines: 10_000,
  /** What can be looked for in a log, and how many lines one page of a search holds. */
  searchLength: 1_000,
  searchHits: 1_000,
  progressLength: 1_000,
  /** What Linux takes as one argument, and what we allow for all of them and the environment. */
  argumentBytes: 128 * 1024 - 1,
  argumentsBytes: 1024 * 1024,
  /** Text of one chunk of output, and how many entries it may have. */
  chunkBytes: 256 * 1024,
  chunkEntries: 10_000,
  logChunks: 1_000,
  logBodyBytes: 4 * 1024 * 1024,
  arguments: 10_000,
  variables: 1_000,
  /** Between the polite signal and the other one: so long an attempt that timed out is still waited for. */
  killGraceMs: 10 * 60_000,
  urlLength: 8_192,
  headers: 100,
  /** What is read of the answer to a request that a run is. */
  responseBytes: 64 * 1024 * 1024,
  redirects: 10,
  mounts: 32,
  /** A secret's value; what is shorter could not be hidden in logs without hiding the logs. */
  secretBytes: 64 * 1024,
  secretLength: 4,
  secretsPerRun: 16,
  batchRuns: 10_000,
  bodyBytes: 1024 * 1024,
  /** One run, or one report of a worker: the largest input or result, however it is escaped. */
  largeBodyBytes: 20 * 1024 * 1024,
  batchBodyBytes: 64 * 1024 * 1024,
  jsonDepth: 32,
  /** No object needs more keys: what has so many is data, and belongs into a list. Except steps by name. */
  objectKeys: 16_384,
  definitionKeys: 2 ** 20,
  tags: 32,
  tagLength: 255,
  labels: 32,
  queues: 64,
  users: 64,
  executors: 1_000,
  gatesPerRun: 8,
  gateCapacity: 1_000_000,
  priority: 10,
  weight: 1_000,
  slots: 10_000,
  retries: 1_000,
  pageSize: 500,
  lanesPerProject: 10_000,
  rateLimit: 1_000_000,
  ratePerLeastMs: 1_000,
  ratePerMostMs: 31 * 86_400_000,
  /** Of a job; and how many missed times one of them may make up for. */
  schedules: 1_000,
  madeUpTimes: 1_000,
  /** How many times to come are shown at most. */
  previewTimes: 500,
  /** Of one backfill: times in its range, runs at once and in a minute. */
  backfillTimes: 10_000,
  backfillRuns: 1_000,
  backfillPerMinute: 10_000,
  /** Of a workflow; and of an expression, how long it is and how deep its brackets go. */
  steps: 100_000,
  expressionLength: 64 * 1024,
  expressionDepth: 8,
  /** What expressions may make of one text. */
  expandedBytes: 1024 * 1024,
  /** What is read at once of what came of steps that expressions name. */
  outputBytes: 64 * 1024 * 1024,
  /** Of an input; and of a job, how it is started by others. */
  parameters: 100,
  triggers: 100,
  /** How many jobs run after one: the end of its runs writes a line for each. */
  followers: 100,
  /** How many a retry names of them. */
  retriedSteps: 100,
  /** How many runs one can be told to start after. */
  awaitedRuns: 100,
  /** How far a forecast looks ahead. */
  forecastDays: 366,
  /** Of a project; and of one, the patterns that say which jobs it is for. */
  webhooks: 100,
  webhookJobs: 100,
  /** How long a secret of a webhook is still used after another took its place. */
  keptSecretMs: 30 * 24 * 3_600_000,
  idempotencyMs: 24 * 3_600_000,
  /** What one attempt can be limited to. */
  leastMemoryBytes: 1024 ** 2,
  leastCpu: 0.01,
  mostCpu: 1_024,
  mostPids: 2 ** 22,
  leastFiles: 16,
  mostFiles: 2 ** 20,
  leastOutputBytes: 1024,
  mostOutputBytes: 16 * 1024 ** 3,
  leastTmpBytes: 4 * 1024,
  mostBytes: 64 * 1024 ** 4,
} as const

/** Names of jobs, queues, projects: they end up in URLs, file names and terminals. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
/** Users of a machine, as `run_as` names them. */
export const USER_NAME = /^[A-Za-z_][A-Za-z0-9._-]{0,31}$/
/** What a label says; its name is a `NAME`. */
export const LABEL_VALUE = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/
