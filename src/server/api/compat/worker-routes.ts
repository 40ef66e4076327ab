import type { FastifyRequest } from 'fastify'
import { LIMITS } from '../../../core/limits.ts'
import { formatTime } from '../../../core/wire/runs.ts'
import { requestOriginOf } from '../http/origin.ts'
import type { CompatApi } from '../../compat/compat-api.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { readWait } from '../http/request.ts'
import { MAX_POLL_WAIT_MS } from '../routes/worker-schemas.ts'
import { compatPrincipalOf } from '../../identity/principal.ts'
import { projectsOf } from './access.ts'
import { readNumber } from '../../compat/job-number.ts'
import type { CompatWorker } from '../../compat/compat-sessions.ts'
import {
  JobPathSchema,
  NextParametersSchema,
  CompatReportSchema,
  CompatWorkerNameSchema,
  WorkerPathSchema,
} from './schemas.ts'
import type { RunStatus } from '../../compat/statuses.ts'
import type { WireCompatWorker, EmptyAnswer } from '../../compat/wire.ts'

const config = { permission: 'work' } as const
const takes = ['Punctual-Project'] as const

type CompatWorkerOptions = Pick<ApiOptions, 'compat' | 'compatEmpty' | 'identify' | 'isOpen'>

/** For workers that need only curl: register, ask for the next job, report its result. */
export function compatWorkerRoutes(api: Api, options: CompatWorkerOptions): void {
  registrationRoutes(api, options)
  jobRoutes(api, options)
}

function registrationRoutes(api: Api, { compat, ...access }: CompatWorkerOptions): void {
  const { sessions } = compat

  api.route({
    method: 'POST',
    url: '/workers/register',
    config: {
      ...config,
      reference: {
        answers: { 200: 'CompatWorker' },
        takes,
        problems: ['too_many_sessions', 'node_cannot_renew'],
      },
    },
    schema: { summary: 'Register a compatibility worker', body: CompatWorkerNameSchema },
    handler: async (request) => {
      const { worker_id: id } = request.body
      await sessions.register(workerOf(request, id, access))
      return shown(id, compat)
    },
  })

  api.route({
    method: 'POST',
    url: '/workers/heartbeat',
    config: {
      ...config,
      reference: {
        answers: { 200: 'CompatWorker' },
        takes,
        problems: ['worker_not_found', 'node_cannot_renew'],
      },
    },
    schema: { summary: 'Send a heartbeat of a compatibility worker', body: CompatWorkerNameSchema },
    handler: async (request) => {
      const { worker_id: id } = request.body
      await sessions.heartbeat(workerOf(request, id, access))
      return shown(id, compat)
    },
  })
}

function jobRoutes(
  api: Api,
  { compat, compatEmpty = '204', ...access }: CompatWorkerOptions,
): void {
  const { sessions } = compat

  api.route({
    method: 'GET',
    url: '/workers/:id/next',
    config: {
      ...config,
      reference: {
        answers: { 200: 'CompatNext', 204: null },
        takes,
        problems: ['worker_not_found', 'node_cannot_renew'],
      },
    },
    schema: {
      summary: 'Give a compatibility worker its next job, or the one it has not finished',
      params: WorkerPathSchema,
      querystring: NextParametersSchema,
    },
    handler: async (request, reply) => {
      const waitMs = readWait(request.query.wait, MAX_POLL_WAIT_MS) ?? 0
      const worker = workerOf(request, request.params.id, access)
      const session = await sessions.heartbeat(worker)
      const lease = await sessions.take(session, waitMs, worker.origin)
      const task = lease && (await compat.taskOf(session, lease))
      if (task) return reply.send({ ...task, job: task })
      const empty: EmptyAnswer = request.query.empty ?? compatEmpty
      return empty === 'json' ? reply.send({ job: null }) : reply.code(204).send()
    },
  })

  api.route({
    method: 'POST',
    url: '/jobs/:id/log',
    config: {
      ...config,
      freeText: ['logs'],
      reference: {
        answers: { 200: 'CompatReported' },
        takes,
        problems: ['worker_not_found', 'job_not_found', 'lease_lost', 'node_cannot_renew'],
      },
    },
    bodyLimit: LIMITS.logBodyBytes,
    schema: {
      summary: 'Store the output and the status of a job',
      params: JobPathSchema,
      body: CompatReportSchema,
    },
    handler: async (request) => {
      const { worker_id, logs, status, exit_code: exitCode } = request.body
      const worker = workerOf(request, worker_id, access)
      const id = readNumber(request.params.id)
      const session = await sessions.heartbeat(worker)
      const isKnown = () => compat.jobs.has(id, worker.isEverywhere ? null : worker.origin.project)
      await compat.report(session, { id, isKnown }, { logs, status, exitCode })
      return { job_id: id, worker_id, status: WORDS[status] }
    },
  })
}

const WORDS: Readonly<Record<string, RunStatus>> = {
  running: 'running',
  success: 'success',
  succeeded: 'success',
  failure: 'failure',
  failed: 'failure',
}

/** A worker that may see all projects serves all of them, unless it names one. */
function workerOf(
  request: FastifyRequest,
  id: string,
  access: Pick<ApiOptions, 'identify' | 'isOpen'>,
): CompatWorker {
  return {
    id,
    origin: requestOriginOf(request, access, compatPrincipalOf),
    isEverywhere: projectsOf(request) === null,
  }
}

function shown(worker_id: string, { storeNow }: Pick<CompatApi, 'storeNow'>): WireCompatWorker {
  return {
    worker_id,
    last_seen: formatTime(storeNow(), 'last_seen'),
    status: 'active',
  }
}
