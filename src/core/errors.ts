/**
 * Every error a user can meet: a code for programs (forever stable), a status for HTTP and a hint
 * that says what to do next. `docs/reference/errors.md` lists the same codes; a test compares them.
 */
export const ERRORS = {
  invalid_json: [400, 'Send one JSON value in UTF-8, with nothing before or after it.'],
  invalid_request: [400, 'Check the method, path and headers against the API reference.'],
  invalid_id: [400, 'Ids look like run_00f3k9m2q7x; copy one from a list or an answer.'],
  invalid_cursor: [400, 'Use the `next_cursor` of the previous page exactly as it was given.'],
  unsupported_media_type: [415, 'Send `Content-Type: application/json`, uncompressed.'],
  unauthorized: [
    401,
    'Send `Authorization: Bearer <token>`; the first start wrote one to admin-token.',
  ],
  bad_signature: [401, 'Sign the call with the secret of the hook, and send it within 5 minutes.'],
  forbidden: [403, 'Use a token whose role may do this.'],
  host_not_allowed: [403, 'Call this server as 127.0.0.1 or localhost, or by a configured name.'],
  origin_not_allowed: [403, 'Call it from a page it served, or from a program.'],
  not_found: [404, 'Check the path; the API lives under /v1.'],
  run_not_found: [404, 'Check the id; finished runs are pruned after the retention period.'],
  log_not_found: [
    404,
    'A log begins with the first attempt; `GET /v1/runs/{id}` says if it began.',
  ],
  job_not_found: [404, 'Check the name; `GET /v1/jobs` lists the jobs that are defined.'],
  backfill_not_found: [404, 'List them with `GET /v1/backfills`; old ones are deleted.'],
  schedule_not_found: [404, 'Check the names of the job and of its schedule.'],
  step_not_found: [404, "Check the name against the steps of the run's job version."],
  hook_not_found: [404, 'Add a trigger `webhook: NAME` to a job.'],
  worker_not_found: [404, 'Register it first: `POST /workers/register`.'],
  token_not_found: [404, 'Check the id; `GET /v1/tokens` lists the tokens there are.'],
  secret_not_found: [404, 'Check the name; `GET /v1/secrets` lists the secrets of the project.'],
  webhook_not_found: [404, 'Check the name; `GET /v1/webhooks` lists the webhooks there are.'],
  delivery_not_found: [404, 'Check the id; deliveries are deleted after 30 days.'],
  session_unknown: [
    404,
    'Register again under the same session id, listing the attempts you hold; if that is refused with this code, register without a session id.',
  ],
  method_not_allowed: [405, 'Check the method against the API reference.'],
  request_timeout: [408, 'Send the whole request within 30 s, or split it.'],
  run_is_final: [409, 'Retry the run to get a new one; a finished run cannot be changed.'],
  run_not_final: [409, 'Only a finished run can be retried; cancel it first, or wait.'],
  step_not_waiting: [
    409,
    'Check the run: the step was already answered, or has not been reached yet.',
  ],
  lease_lost: [409, 'Another attempt owns this run now; stop working on it.'],
  session_superseded: [409, 'A newer registration of this session exists; this one must stop.'],
  exchange_out_of_order: [409, 'Number exchanges 1, 2, 3 … and repeat one until it is answered.'],
  job_is_live: [409, 'Cancel its runs first, or wait for them.'],
  job_exists: [409, 'To replace the job, send the request again without `If-Match: "0"`.'],
  schedule_exists: [
    409,
    'Give the schedule of the definition another `name`, or delete the existing one first.',
  ],
  nothing_to_skip: [409, 'It has no future times; `GET …/why` of the schedule says why.'],
  secret_key_missing: [409, 'Give every node the same key file with --secret-key, and try again.'],
  webhook_exists: [409, 'Choose another name, or replace it with `PUT /v1/webhooks/{name}`.'],
  version_conflict: [412, 'Read it again, apply your change to the current version, and retry.'],
  body_too_large: [413, 'Split the request; one body may hold at most the documented size.'],
  too_many_steps: [413, 'Use fewer steps for the same work: `each` runs one for every item.'],
  uri_too_long: [414, 'Shorten the URL; put long values into the body.'],
  headers_too_large: [431, 'Send fewer or shorter headers.'],
  invalid_field: [422, 'Change the named field to a value in the range the message gives.'],
  invalid_schedule: [
    422,
    'Try it with `POST /v1/schedules/preview` until its times are what you want.',
  ],
  invalid_workflow: [422, 'Change the named step; `punctual validate` checks files locally.'],
  invalid_trigger: [422, 'Change the named trigger; `punctual validate` checks files locally.'],
  invalid_expression: [
    422,
    'Use names and functions from the page on job files, such as `${{ input.day }}`.',
  ],
  unknown_field: [422, 'Remove the field or correct its name.'],
  missing_field: [422, 'Add the named field.'],
  idempotency_mismatch: [422, 'This Idempotency-Key was used with another body; choose a new key.'],
  too_many_lanes: [422, 'Use fewer distinct combinations of queue, labels, executor and weight.'],
  too_many_webhooks: [422, 'Delete unused webhooks; one webhook can cover many jobs and events.'],
  too_many_schedules: [422, 'Delete unused schedules, or move some of them to another job.'],
  protocol_unsupported: [422, 'Upgrade the worker or the server, whichever is older.'],
  rate_limited: [429, 'Wait for the seconds given in Retry-After, then send requests more slowly.'],
  too_many_sessions: [
    429,
    'Use several tokens, end workers that are not needed, or wait for the seconds in Retry-After.',
  ],
  overloaded: [
    503,
    'The server has more pending work than it accepts; retry after the given time.',
  ],
  store_unavailable: [503, 'The database does not answer; retry with the same ids or keys.'],
  blobs_unavailable: [503, 'Large inputs and results are temporarily unavailable; try again.'],
  node_stopping: [503, 'This node is shutting down; use another one.'],
  node_cannot_renew: [
    503,
    'This node lost its connection to the database; register with another node.',
  ],
  server_unreachable: [503, 'Check the url, and that the server is running.'],
  store_damaged: [503, 'Stop the server and restore a backup: see docs/how-to/back-up.md.'],
  store_replaced: [
    503,
    'Leave the process running: it still has the files open. Put them back, or restore a backup.',
  ],
  storage_full: [507, 'Free some space where the server keeps its data, then send it again.'],
  blob_unreadable: [500, 'Restore the blobs from a backup; without one the data is lost.'],
  internal: [500, 'This is a bug in Punctual; please report it with the request id.'],
  schema_too_new: [500, 'The database was written by a newer Punctual; upgrade this node.'],
  migration_changed: [
    500,
    'Start the Punctual version that created this database, or restore a backup made by this version.',
  ],
  store_in_use: [500, 'Another process has this data directory open; stop it or choose another.'],
  store_unsupported: [500, 'Move the data directory to a local disk, or use PostgreSQL.'],
  config_invalid: [500, 'Correct the named setting and start again.'],
} as const satisfies Record<string, readonly [status: number, hint: string]>

export type ErrorCode = keyof typeof ERRORS

/** A range of characters in a text. */
export interface TextRange {
  readonly at: number
  readonly length: number
}

export class PunctualError extends Error {
  readonly code: ErrorCode
  /** The path of the wrong field in the request, such as `runs.3.priority`. */
  readonly field: string | undefined

  /** The wrong part of the text in that field; only job files show it. */
  readonly range: TextRange | undefined

  /** Seconds after which to try again, if the error is temporary. */
  readonly retryAfterS: number | undefined

  /** A specific hint that replaces the general hint of the code. */
  readonly #hint: string | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options?: ErrorOptions & {
      field?: string
      hint?: string
      retryAfterS?: number
      range?: TextRange
    },
  ) {
    super(message, options)
    this.name = 'PunctualError'
    this.code = code
    this.field = options?.field
    this.range = options?.range
    this.retryAfterS = options?.retryAfterS
    this.#hint = options?.hint
  }

  get status(): number {
    return ERRORS[this.code][0]
  }

  /** Whether the cause is on the server and may go away. Lost data does not come back. */
  get isPassing(): boolean {
    return this.status >= 500 && this.code !== 'blob_unreadable'
  }

  /** Whether the error has only the general hint of its code. */
  get isGeneral(): boolean {
    return this.#hint === undefined
  }

  get hint(): string {
    return this.#hint ?? ERRORS[this.code][1]
  }
}

/** Whether repeating the same request would give the same error. */
export function isLasting(error: unknown): error is PunctualError {
  return error instanceof PunctualError && !error.isPassing
}
