/**
 * Details of operations beyond their summary, where the body needs no example; by method and path.
 */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'GET /metrics': 'In the text format of Prometheus. `docs/reference/metrics.md` lists the names.',
  'GET /livez':
    '200 while the process works, also without its database. Restart it when this fails.',
  'GET /readyz': '503 with the reason while this node cannot take requests.',
  'GET /openapi.json':
    'OpenAPI 3.1 of the version that is running, made from the schemas that check requests.',
  'GET /schema/v1/job.json': 'Editors use it to complete and check job files.',

  'GET /v1/runs':
    'New runs do not shift the pages. A page may be short, or empty, and ' +
    'still have a next one: a request examines only a limited number of runs.',
  'GET /v1/runs/{id}': 'With `wait`, the answer comes when the run has ended, or after that time.',
  'GET /v1/runs/{id}/attempts':
    'Oldest first, each with its worker, its times and its outcome; including lost attempts.',
  'GET /v1/runs/{id}/why':
    'One sentence, a code for programs, details, and commands that would change it.',
  'GET /v1/runs/{id}/steps':
    'For a workflow run: state, times and output of each step. A fan-out is one step.',
  'GET /v1/runs/{id}/steps/{step}': 'State, times, output, and the open approval, if any.',
  'GET /v1/runs/{id}/steps/{step}/items': 'One run for each item of the list.',
  'POST /v1/runs/{id}/steps/{step}/refuse':
    'Only while the step waits for approval. The step fails, and the workflow continues as after any failure.',
  'POST /v1/runs/{id}/cancel':
    'A waiting run is cancelled at once. For a running one, its worker is asked to stop it and then reports the end.',
  'GET /v1/runs/{id}/logs':
    'Lines of the latest or the given attempt, counted from 0. Continue with `next_line` until `complete`.',
  'GET /v1/runs/{id}/logs/search':
    'Lines that match `q`, a text or (`mode=regex`) an expression in RE2 syntax, whose search takes ' +
    'time proportional to the log, whatever the expression. Colours are ignored. A page ends after `limit` ' +
    'lines or two seconds: continue with `next_line` until `complete`.',
  'GET /v1/runs/{id}/logs/raw': 'The exact bytes, even if they are not valid text.',
  'GET /v1/runs/{id}/logs/follow':
    'Server-sent events: `output` while it is printed, and `end` at the end. After a broken connection ' +
    'continue with `Last-Event-ID`. A slow reader gets everything, later; with ' +
    '`skip=true` it stays close to the end, and `skipped` events say how much it missed.',
  'GET /v1/events':
    'Server-sent events: `hello` first, then `run` whenever a run changed, `run.progress` when it reports ' +
    'progress, and `reset` when events may have been missed. ' +
    'With `Last-Event-ID` a stream continues where an earlier one ended.',

  'GET /v1/jobs':
    'By name. A page may end early where definitions are large, and still have a next one.',
  'GET /v1/jobs/{name}':
    'The current definition, with its version as `ETag`, its schedules, and the jobs that run after it.',
  'DELETE /v1/jobs/{name}': 'A job with unfinished runs cannot be deleted.',
  'GET /v1/jobs/{name}/versions': 'Every definition of the job, with the token that set it.',
  'GET /v1/jobs/{name}/steps':
    'For a workflow job: its steps as defined, with durations and outcomes of their latest runs.',
  'POST /v1/jobs/{name}/pause':
    'Schedules and triggers do not start the job until it is resumed. Submitted runs still start; pause the queue to hold those.',
  'POST /v1/jobs/{name}/resume': 'Schedules and triggers start the job again.',

  'GET /v1/jobs/{name}/schedules/{schedule}':
    'Its rule in words, its policies for missed and overlapping times, the next time, and whether it is paused.',
  'DELETE /v1/jobs/{name}/schedules/{schedule}': 'Runs it has started continue.',
  'POST /v1/jobs/{name}/schedules/{schedule}/pause':
    'Times during the pause are recorded as skipped.',
  'POST /v1/jobs/{name}/schedules/{schedule}/resume':
    'It fires again from now on. A schedule of a paused job waits for the job.',
  'POST /v1/jobs/{name}/schedules/{schedule}/skip':
    'The next time starts no run and is recorded as skipped. 409 `nothing_to_skip` if there is no next time.',
  'POST /v1/jobs/{name}/schedules/{schedule}/run':
    'Starts a run like those of the schedule, now. Its times do not change.',
  'GET /v1/jobs/{name}/schedules/{schedule}/occurrences':
    'In order of time: the outcome of every time in the range, and the future times. Consecutive times ' +
    'with the same outcome are returned as one range.',
  'GET /v1/jobs/{name}/schedules/{schedule}/why': 'One sentence, with details and commands.',
  'GET /v1/schedules': 'A page may be short, or empty, and still have a next one.',
  'GET /v1/schedules/next':
    'Future times of all schedules of the project, or of one job, soonest first.',
  'GET /v1/away': 'What happened while you or the servers were away: counts per schedule.',
  'GET /v1/backfills': 'Active and finished backfills with their progress.',
  'GET /v1/backfills/{id}':
    'How many times became runs, how many needed none, and how many runs are unfinished.',
  'POST /v1/backfills/{id}/cancel': 'Existing runs continue. A finished backfill does not change.',
  'GET /v1/forecast':
    'What the schedules of a project, or of a `job`, will do in the next `days`: how often they ' +
    'fire, what coincides, how much runs concurrently if runs take as long as the latest ones, and ' +
    'the nights in which clocks change. The forecast assumes that every run starts on time.',

  'GET /v1/workers': 'Workers that are connected now, to any node, and serve the project.',
  'POST /v1/workers/{session}/heartbeat':
    'Renews the leases of the worker. The answer lists the attempts it has lost and those it has to stop.',
  'POST /v1/workers/{session}/logs':
    'Chunks of an attempt have consecutive numbers. A chunk that is sent again is stored once.',
  'POST /v1/workers/{session}/leave':
    'Returns the leases that the session still holds; those attempts are not counted.',
  'GET /v1/queues':
    'Queues of the project, with the runs that are ready in each and the workers that serve it.',
  'PATCH /v1/queues': 'The settings of single queues do not change.',

  'GET /v1/tokens': 'Their names, roles and times. No request shows a token again.',
  'DELETE /v1/tokens/{id}': 'All nodes refuse it within five seconds.',
  'GET /v1/audit':
    'Every change except runs. The entry is written in the transaction that makes the change; ' +
    'the submitter of a run is stored with the run.',
  'GET /v1/storage': 'Where the database and the blobs are, and whether a write succeeds now.',
  'GET /v1/secrets': 'Names, versions and keys. No request reads a value.',
  'PUT /v1/secrets/{name}':
    'The value is encrypted before it is stored. Attempts that start later get it.',
  'DELETE /v1/secrets/{name}': 'Attempts of jobs that still use it fail with `start_error`.',
  'GET /v1/secret-keys':
    'A key that is not listed encrypts nothing and may be removed from the key files.',
  'POST /v1/secret-keys/rotate':
    'For the secrets of all projects, fifty at a time, while runs go on.',

  'GET /v1/webhooks': 'Without their secrets.',
  'GET /v1/webhooks/{name}': 'Without its secret.',
  'PUT /v1/webhooks/{name}':
    'An existing webhook keeps its secret. The secret of a new one is shown only in this answer.',
  'DELETE /v1/webhooks/{name}':
    'Its pending deliveries and the history of its deliveries are deleted, too.',
  'POST /v1/webhooks/{name}/rotate':
    'Only this answer shows the new secret. Messages also carry a signature with the previous one, for `keep` or a day.',
  'POST /v1/webhooks/{name}/test':
    'The answer is the delivery. The message is sent at once, also if the webhook is disabled.',
  'GET /v1/webhooks/{name}/deliveries':
    'Deliveries of the last 30 days, with tries, status, error and the next try.',
  'GET /v1/webhooks/{name}/deliveries/{id}': 'The same with the body of the message.',
  'POST /v1/webhooks/{name}/deliveries/{id}/redeliver':
    'The same body, under the same `webhook-id`.',

  'GET /jobs': 'Jobs of the project by number; with `X-User-ID`, the submitted jobs of that user.',
  'GET /jobs/{id}': 'With its last run that has begun, and its output.',
  'POST /workers/register': 'A worker that registers again continues its unfinished job.',
  'POST /workers/heartbeat': 'Any other request of the worker does the same.',
  'GET /workers/{id}/next':
    '204 if there is none, or `{"job": null}` on request. Any request of a worker is a heartbeat: a worker ' +
    'that is silent for 20 s loses its job to another one.',
  'POST /jobs/{id}/log': '409 if this worker does not, or no longer, have the job.',
  'GET /job':
    'With its latest runs. Without `X-User-ID`, a job of any user; with it, only a job of that user.',
}
