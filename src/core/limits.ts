/** The limits of what the scheduler accepts. Documentation and errors quote these numbers. */
export const LIMITS = {
  nameLength: 128,
  /** Size as JSON. A value above the inline limit is stored outside the row. */
  inputBytes: 8 * 1024 * 1024,
  resultBytes: 8 * 1024 * 1024,
  inlineBytes: 64 * 1024,
  messageBytes: 8 * 1024,
  keyLength: 255,
  reasonLength: 500,
  descriptionLength: 10_000,
  logLines: 10_000,
  /** Length of a log search text, and number of lines on one page of results. */
  searchLength: 1_000,
  searchHits: 1_000,
  progressLength: 1_000,
  /** The longest single argument in Linux, and our limit for all arguments and the environment together. */
  argumentBytes: 128 * 1024 - 1,
  argumentsBytes: 1024 * 1024,
  /** Bytes of text in one chunk of output, and maximum number of its entries. */
  chunkBytes: 256 * 1024,
  chunkEntries: 10_000,
  logChunks: 1_000,
  logBodyBytes: 4 * 1024 * 1024,
  arguments: 10_000,
  variables: 1_000,
  /** Maximum grace period between SIGTERM and SIGKILL for an attempt that timed out or was cancelled. */
  killGraceMs: 10 * 60_000,
  urlLength: 8_192,
  headers: 100,
  /** Maximum bytes that are read of the response to an HTTP run. */
  responseBytes: 64 * 1024 * 1024,
  redirects: 10,
  mounts: 32,
  /** Size of a secret's value; masking a shorter value would make logs unreadable. */
  secretBytes: 64 * 1024,
  secretLength: 4,
  secretsPerRun: 16,
  /** Bytes of standard input that `exec` passes to the command: they are stored in the row of the run. */
  forwardedBytes: 1024 * 1024,
  batchRuns: 10_000,
  bodyBytes: 1024 * 1024,
  /** One run, or one report of a worker: the largest input or result with any escaping. */
  largeBodyBytes: 20 * 1024 * 1024,
  batchBodyBytes: 64 * 1024 * 1024,
  jsonDepth: 32,
  /** Maximum keys of an object; larger data belongs in a list. Steps by name are exempt. */
  objectKeys: 16_384,
  definitionKeys: 2 ** 17,
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
  /** Schedules per job, and missed times that one schedule may run later. */
  schedules: 1_000,
  madeUpTimes: 1_000,
  /** Maximum number of future times in a preview. */
  previewTimes: 500,
  /** For one backfill: times in its range, concurrent runs, and starts per minute. */
  backfillTimes: 10_000,
  backfillRuns: 1_000,
  backfillPerMinute: 10_000,
  /** Steps of a workflow; for an expression, its length and its depth of brackets. */
  steps: 100_000,
  expressionLength: 64 * 1024,
  expressionDepth: 8,
  /** Expressions per step, and per job without steps. They are read, and later evaluated, in one go. */
  stepExpressions: 20_000,
  /** Values per field in lists and objects that contain expressions. */
  templateValues: 250_000,
  /** Maximum size of one text after its expressions are evaluated. */
  expandedBytes: 1024 * 1024,
  /** Maximum bytes of step outputs that are read at once for expressions. */
  outputBytes: 64 * 1024 * 1024,
  /** Parameters of an input, and triggers of a job. */
  parameters: 100,
  triggers: 100,
  /** Maximum number of jobs triggered by one job: the end of each of its runs writes a row for each. */
  followers: 100,
  /** Maximum number of steps named in a retry. */
  retriedSteps: 100,
  /** Maximum number of runs that one run can wait for. */
  awaitedRuns: 100,
  /** Range of a forecast. */
  forecastDays: 366,
  /** Webhooks per project, and job patterns per webhook. */
  webhooks: 100,
  webhookJobs: 100,
  /** How long the previous secret of a webhook stays valid after a rotation. */
  keptSecretMs: 30 * 24 * 3_600_000,
  idempotencyMs: 24 * 3_600_000,
  /** Bounds of the limits of one attempt. */
  minMemoryBytes: 1024 ** 2,
  minCpu: 0.01,
  maxCpu: 1_024,
  maxPids: 2 ** 22,
  minFiles: 16,
  maxFiles: 2 ** 20,
  minOutputBytes: 1024,
  maxOutputBytes: 16 * 1024 ** 3,
  minTmpBytes: 4 * 1024,
  maxAttemptBytes: 64 * 1024 ** 4,
} as const

/** Names of jobs, queues and projects: they appear in URLs, file names and terminals. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
/** User names of the worker's host, as in `run_as`. */
export const USER_NAME = /^[A-Za-z_][A-Za-z0-9._-]{0,31}$/
/** The value of a label; its name is a `NAME`. */
export const LABEL_VALUE = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/
