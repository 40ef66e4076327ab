import { operationId } from './operation-id.ts'

/**
 * Operations that accept an id from a response, for programs that discover the API by themselves.
 */
interface Link {
  readonly operationId: string
  readonly parameters: Readonly<Record<string, string>>
  readonly description: string
}

type Links = Readonly<Record<string, Link>>

function link(operation: string, parameters: Link['parameters'], description: string): Link {
  const [method = '', path = ''] = operation.split(' ')
  return { operationId: operationId(method, path), parameters, description }
}

function linksOfRun(id: string): Links {
  return {
    run: link('GET /v1/runs/{id}', { id }, 'Its state and result.'),
    why: link('GET /v1/runs/{id}/why', { id }, 'Why it is in its state.'),
    attempts: link('GET /v1/runs/{id}/attempts', { id }, 'Its attempts.'),
    logs: link('GET /v1/runs/{id}/logs', { id }, 'Its output.'),
    steps: link('GET /v1/runs/{id}/steps', { id }, 'Its steps, if it is a workflow.'),
    cancel: link('POST /v1/runs/{id}/cancel', { id }, 'Cancels it.'),
    retry: link('POST /v1/runs/{id}/retry', { id }, 'Repeats it after its end.'),
  }
}

function linksOfJob(name: string): Links {
  return {
    job: link('GET /v1/jobs/{name}', { name }, 'The job as it is defined now.'),
    versions: link('GET /v1/jobs/{name}/versions', { name }, 'All its versions.'),
    run: link('POST /v1/jobs/{name}/runs', { name }, 'Runs it.'),
    pause: link('POST /v1/jobs/{name}/pause', { name }, 'Pauses it.'),
    delete: link('DELETE /v1/jobs/{name}', { name }, 'Deletes it.'),
  }
}

function linksOfSchedule(name: string, schedule: string): Links {
  const url = '/v1/jobs/{name}/schedules/{schedule}'
  const parameters = { name, schedule }
  return {
    schedule: link(`GET ${url}`, parameters, 'The schedule as it is now.'),
    occurrences: link(`GET ${url}/occurrences`, parameters, 'Its times and their outcomes.'),
    why: link(`GET ${url}/why`, parameters, 'When it fires next, or why it does not.'),
    skip: link(`POST ${url}/skip`, parameters, 'Skips the next time.'),
    pause: link(`POST ${url}/pause`, parameters, 'Pauses it.'),
    delete: link(`DELETE ${url}`, parameters, 'Deletes it.'),
  }
}

function linksOfWebhook(name: string): Links {
  return {
    webhook: link('GET /v1/webhooks/{name}', { name }, 'The webhook, without its secret.'),
    test: link('POST /v1/webhooks/{name}/test', { name }, 'Sends a test message.'),
    deliveries: link('GET /v1/webhooks/{name}/deliveries', { name }, 'Its deliveries.'),
    rotate: link('POST /v1/webhooks/{name}/rotate', { name }, 'Gives it a new secret.'),
    delete: link('DELETE /v1/webhooks/{name}', { name }, 'Deletes it.'),
  }
}

const NAME = '$request.path.name'
const DELIVERY = { name: NAME, id: '$response.body#/id' }
const BACKFILL = { id: '$response.body#/id' }
const SESSION = {
  session: '$response.body#/session',
  'Punctual-Session-Secret': '$response.body#/session_secret',
}
const WORKER = { id: '$response.body#/worker_id' }

/** Links of responses with 200 and 201, by method and path. */
export const LINKS: Readonly<Record<string, Links>> = {
  'POST /v1/runs': linksOfRun('$response.body#/id'),
  'POST /v1/jobs/{name}/runs': linksOfRun('$response.body#/id'),
  'POST /v1/runs/{id}/retry': linksOfRun('$response.body#/id'),
  'POST /v1/jobs/{name}/schedules/{schedule}/run': linksOfRun('$response.body#/id'),
  'PUT /v1/jobs/{name}': linksOfJob(NAME),
  'PUT /v1/jobs/{name}/schedules/{schedule}': linksOfSchedule(NAME, '$request.path.schedule'),
  'POST /v1/jobs/{name}/schedules/{schedule}/backfill': {
    backfill: link('GET /v1/backfills/{id}', BACKFILL, 'Its progress.'),
    cancel: link('POST /v1/backfills/{id}/cancel', BACKFILL, 'Makes no more runs.'),
  },
  'PUT /v1/secrets/{name}': {
    delete: link('DELETE /v1/secrets/{name}', { name: NAME }, 'Deletes it.'),
  },
  'POST /v1/tokens': {
    revoke: link('DELETE /v1/tokens/{id}', { id: '$response.body#/id' }, 'Revokes it.'),
  },
  'POST /v1/webhooks': linksOfWebhook('$response.body#/name'),
  'PUT /v1/webhooks/{name}': linksOfWebhook(NAME),
  'POST /v1/webhooks/{name}/test': {
    delivery: link('GET /v1/webhooks/{name}/deliveries/{id}', DELIVERY, 'Its outcome.'),
    redeliver: link(
      'POST /v1/webhooks/{name}/deliveries/{id}/redeliver',
      DELIVERY,
      'Sends it again.',
    ),
  },
  'POST /v1/workers': {
    exchange: link('POST /v1/workers/{session}/exchange', SESSION, 'Fetches attempts.'),
    heartbeat: link('POST /v1/workers/{session}/heartbeat', SESSION, 'Renews its leases.'),
    leave: link('POST /v1/workers/{session}/leave', SESSION, 'Ends the session.'),
  },
  'POST /jobs': {
    job: link('GET /jobs/{id}', { id: '$response.body#/id' }, 'The job with its last run.'),
  },
  'POST /workers/register': {
    next: link('GET /workers/{id}/next', WORKER, 'Its next job.'),
  },
  'POST /submit': {
    job: link('GET /job', { id: '$response.body#/job_id' }, 'The job with its runs.'),
  },
}
