import { randomBytes } from 'node:crypto'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { LogController } from 'fastify'
import { PunctualError } from '../../core/errors.ts'
import { LIMITS } from '../../core/limits.ts'
import { adminRoutes } from './routes/admin-routes.ts'
import { guardAccess } from './http/access.ts'
import type { Api, ApiOptions } from './http/api.ts'
import { acceptJsonOnly } from './http/body.ts'
import { answerClientError, MAX_URL_LENGTH } from './http/client-error.ts'
import { DEFAULT_CONNECTIONS, limitConnections } from './http/connections.ts'
import { eventRoutes } from './routes/event-routes.ts'
import { healthRoutes } from './routes/health-routes.ts'
import { forecastRoutes } from './routes/forecast-routes.ts'
import { backfillRoutes } from './routes/backfill-routes.ts'
import { guardHost } from './http/host.ts'
import { hookRoutes } from './routes/hook-routes.ts'
import { jobRoutes } from './routes/job-routes.ts'
import { lazyCompilers } from './http/lazy-validation.ts'
import { logRoutes } from './routes/log-routes.ts'
import { answerUnknownRoutes } from './http/methods.ts'
import { metricsRoutes } from './routes/metrics-routes.ts'
import { sendProblem } from './http/problem.ts'
import { referenceRoutes } from './reference/reference-routes.ts'
import { collectRoutes } from './http/route-table.ts'
import { runRoutes } from './routes/run-routes.ts'
import { stepRoutes } from './routes/step-routes.ts'
import { storageRoutes } from './routes/storage-routes.ts'
import { scheduleRoutes } from './routes/schedule-routes.ts'
import { secretRoutes } from './routes/secret-routes.ts'
import { submitRoutes } from './routes/submit-routes.ts'
import { timetableRoutes } from './routes/occurrence-routes.ts'
import { uiRoutes } from './routes/ui-routes.ts'
import { refuseUnreadParameters } from './unread-parameters.ts'
import { validationError } from './http/validation-error.ts'
import { plainJobRoutes } from './compat/job-routes.ts'
import { submissionRoutes } from './compat/submit-routes.ts'
import { plainWorkerRoutes } from './compat/worker-routes.ts'
import { webhookRoutes } from './routes/webhook-routes.ts'
import { workerRoutes } from './routes/worker-routes.ts'

/** The HTTP face of a scheduler, ready to listen or to be injected into. */
export function createApi(options: ApiOptions): Api {
  const nextRequestId = createRequestIds()
  const limits = { ...DEFAULT_CONNECTIONS, ...options.connections }
  const http = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkMs,
    // Answered by `guardHost`, in our words.
    requireHostHeader: false,
  }
  const transport = options.tls
    ? { https: { ...http, ...options.tls, minVersion: 'TLSv1.2' as const } }
    : { http }
  const api: Api = Fastify({
    ...transport,
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.stalledMs,
    keepAliveTimeout: limits.keepAliveMs,
    bodyLimit: LIMITS.bodyBytes,
    // Names of full length, each letter escaped: what is longer is told that it is no name.
    routerOptions: { maxParamLength: 3 * LIMITS.nameLength },
    // A node that stops says so itself, with a code; the framework would answer without one.
    return503OnClosing: false,
    // Wrong types, extra fields and missing ones are the caller's to correct, never ours to guess.
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allErrors: false,
        verbose: true,
      },
    },
    schemaController: { compilersFactory: lazyCompilers },
    schemaErrorFormatter: validationError,
    frameworkErrors: sendProblem,
    clientErrorHandler: (error, socket) =>
      answerClientError(error, socket, { requestId: nextRequestId(), clock: options.clock }),
    genReqId: nextRequestId,
    logController: new LogController({ disableRequestLogging: true }),
    ...(options.logger ? { loggerInstance: options.logger } : {}),
  }).withTypeProvider<TypeBoxTypeProvider>()
  limitConnections(api.server, limits)
  api.setErrorHandler(sendProblem)

  guardHost(api, options.allowHosts ?? [])
  guardAccess(api, options)
  guardUrl(api)
  acceptJsonOnly(api)
  refuseUnreadParameters(api)
  answerUnknownRoutes(api)
  const closing = new AbortController()
  api.decorate('closing', closing.signal)
  // Whoever waits for something is answered now: a server that stops must not wait for them.
  api.addHook('preClose', async () => closing.abort('closing'))
  const routes = collectRoutes(api)
  api.decorate('routeTable', routes)

  metricsRoutes(api, options)
  healthRoutes(api, options)
  submitRoutes(api, options)
  runRoutes(api, options)
  stepRoutes(api, options)
  jobRoutes(api, options)
  scheduleRoutes(api, options)
  timetableRoutes(api, options)
  forecastRoutes(api, options)
  backfillRoutes(api, options)
  logRoutes(api, options)
  eventRoutes(api, options)
  workerRoutes(api, options)
  adminRoutes(api, options)
  storageRoutes(api, options)
  secretRoutes(api, options)
  webhookRoutes(api, options)
  hookRoutes(api, options)
  plainJobRoutes(api, options)
  plainWorkerRoutes(api, options)
  submissionRoutes(api, options)
  uiRoutes(api)
  referenceRoutes(api, routes, options.version ?? 'unknown')
  return api
}

function guardUrl(api: Api): void {
  api.addHook('onRequest', ({ url }, _reply, next) => {
    // With a host in it, it would be for a proxy, and might name another host than its header.
    if (!url.startsWith('/')) next(new PunctualError('invalid_request', 'the URL is not a path'))
    else if (url.length <= MAX_URL_LENGTH) next()
    else
      next(new PunctualError('uri_too_long', `the URL is longer than ${MAX_URL_LENGTH} characters`))
  })
}

/** Unique over restarts, short enough to read out: it is what a bug report starts with. */
function createRequestIds(): () => string {
  const start = randomBytes(4).toString('hex')
  let count = 0
  return () => {
    count += 1
    return `req_${start}_${count.toString(36)}`
  }
}
