import type { FastifyRequest } from 'fastify'
import { LIMITS } from '../../../core/limits.ts'
import { formatTime } from '../../../core/wire/runs.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { readWait } from '../http/request.ts'
import { MAX_WAIT_MS } from '../routes/worker-schemas.ts'
import { projectsOf } from './access.ts'
import { readNumber } from '../../compat/job-number.ts'
import type { PlainWorker } from '../../compat/compat-sessions.ts'
import { JobPath, NextParameters, PlainReport, PlainWorkerName, WorkerPath } from './schemas.ts'
import type { RunStatus } from '../../compat/statuses.ts'
import type { WirePlainWorker } from '../../compat/wire.ts'

/** A worker that has nothing but curl: it registers, asks for the next job, and says how that went. */
export function plainWorkerRoutes(api: Api, { plain }: Pick<ApiOptions, 'plain'>): void {
  const { sessions } = plain
  const config = { permission: 'work' } as const
  const takes = ['Punctual-Project'] as const

  const shown = (worker_id: string): WirePlainWorker => ({
    worker_id,
    last_seen: formatTime(plain.storeNow(), 'last_seen'),
    status: 'active',
  })

  api.route({
    method: 'POST',
    url: '/workers/register',
    config: {
      ...config,
      reference: { answers: { 201: 'PlainWorker' }, takes, problems: ['node_cannot_renew'] },
    },
    schema: { summary: 'Register a plain worker', body: PlainWorkerName },
    handler: async (request, reply) => {
      const { worker_id: id } = request.body
      await sessions.register(workerOf(request, id))
      return reply.code(201).send(shown(id))
    },
  })

  api.route({
    method: 'POST',
    url: '/workers/heartbeat',
    config: {
      ...config,
      reference: {
        answers: { 200: 'PlainWorker' },
        takes,
        problems: ['worker_not_found', 'node_cannot_renew'],
      },
    },
    schema: { summary: 'Say that a plain worker is there', body: PlainWorkerName },
    handler: async (request) => {
      const { worker_id: id } = request.body
      await sessions.meet(workerOf(request, id))
      return shown(id)
    },
  })

  api.route({
    method: 'GET',
    url: '/workers/:id/next',
    config: {
      ...config,
      reference: {
        answers: { 200: 'PlainTask', 204: null },
        takes,
        problems: ['worker_not_found', 'node_cannot_renew'],
      },
    },
    schema: {
      summary: 'Give a plain worker its next job, or the one it has not finished',
      params: WorkerPath,
      querystring: NextParameters,
    },
    handler: async (request, reply) => {
      const waitMs = readWait(request.query.wait, MAX_WAIT_MS) ?? 0
      const session = await sessions.meet(workerOf(request, request.params.id))
      const lease = await sessions.take(session, waitMs)
      const task = lease && (await plain.taskOf(session, lease))
      return task ? reply.send(task) : reply.code(204).send()
    },
  })

  api.route({
    method: 'POST',
    url: '/jobs/:id/log',
    config: {
      ...config,
      freeText: ['logs'],
      reference: {
        answers: { 200: 'PlainReported' },
        takes,
        problems: ['worker_not_found', 'job_not_found', 'lease_lost', 'node_cannot_renew'],
      },
    },
    bodyLimit: LIMITS.logBodyBytes,
    schema: {
      summary: 'Store what a job printed, and say how it went',
      params: JobPath,
      body: PlainReport,
    },
    handler: async (request) => {
      const { worker_id, logs, status } = request.body
      const worker = workerOf(request, worker_id)
      const id = readNumber(request.params.id)
      const session = await sessions.meet(worker)
      const isKnown = () => plain.jobs.has(id, worker.isEverywhere ? null : worker.project)
      await plain.report(session, { id, isKnown }, { logs, status })
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

/** Whoever may see all projects works for all of them, unless it names one. */
function workerOf(request: FastifyRequest, id: string): PlainWorker {
  return { id, project: projectOf(request), isEverywhere: projectsOf(request) === null }
}
