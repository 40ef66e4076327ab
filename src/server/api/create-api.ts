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
import { frameworkLogger } from './http/framework-logger.ts'
import { forecastRoutes } from './routes/forecast-routes.ts'
import { backfillRoutes } from './routes/backfill-routes.ts'
import { guardHost } from './http/host.ts'
import { hookRoutes } from './routes/hook-routes.ts'
import { jobRoutes } from './routes/job-routes.ts'
import { lazyCompilers } from './http/validation/lazy-validation.ts'
import { limitLists } from './http/limit-lists.ts'
import { logRoutes } from './routes/log-routes.ts'
import { answerUnknownRoutes } from './http/methods.ts'
import { metricsRoutes } from './routes/metrics-routes.ts'
import { sendProblem } from './http/problem.ts'
import { referenceRoutes } from './reference/reference-routes.ts'
import { collectRoutes } from './http/route-table.ts'
import { runRoutes } from './routes/run-routes.ts'
import { stepRoutes } from './routes/step-routes.ts'
import { scheduleRoutes } from './routes/schedule-routes.ts'
import { secretRoutes } from './routes/secret-routes.ts'
import { submitRoutes } from './routes/submit-routes.ts'
import { createTokenWatch } from './http/token-watch.ts'
import { occurrenceRoutes } from './routes/occurrence-routes.ts'
import { uiRoutes } from './routes/ui-routes.ts'
import { validationError } from './http/validation/validation-error.ts'
import { compatJobRoutes } from './compat/job-routes.ts'
import { acceptRunUuids } from './compat/run-uuid-paths.ts'
import { compatSubmitRoutes } from './compat/submit-routes.ts'
import { compatWorkerRoutes } from './compat/worker-routes.ts'
import { webhookRoutes } from './routes/webhook-routes.ts'
import { workerRoutes } from './routes/worker-routes.ts'

/** The HTTP API of a scheduler, ready to listen or to be injected into. */
export function createApi(options: ApiOptions): Api {
  const nextRequestId = createRequestIds()
  const limits = { ...DEFAULT_CONNECTIONS, ...options.connections }
  const http = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkMs,
    // Answered by `guardHost`, with our own error.
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
    // Names of full length with each character escaped: a longer parameter gets the error that it
    // is no name.
    routerOptions: { maxParamLength: 3 * LIMITS.nameLength },
    // A stopping node answers by itself, with an error code; the framework would answer without
    // one.
    return503OnClosing: false,
    // The caller has to correct wrong types, extra and missing fields; the server never guesses.
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
    ...(options.log ? { loggerInstance: frameworkLogger(options.log) } : {}),
  }).withTypeProvider<TypeBoxTypeProvider>()
  limitConnections(api.server, limits)
  api.setErrorHandler(sendProblem)

  guardHost(api, options.allowHosts ?? [])
  guardAccess(api, options)
  guardUrl(api)
  acceptJsonOnly(api, options)
  refuseUnreadParameters(api)
  answerUnknownRoutes(api)
  acceptRunUuids(api, options)
  const closing = new AbortController()
  api.decorate('closing', closing.signal)
  // Waiting requests are answered now: a stopping server must not wait for them.
  api.addHook('preClose', async () => closing.abort('closing'))
  api.decorate('tokenWatch', createTokenWatch(options, closing.signal))
  limitLists(api, options)
  const routes = collectRoutes(api)
  api.decorate('routeTable', routes)

  registerRoutes(api, options)
  referenceRoutes(api, routes, options.version ?? 'unknown')
  return api
}

/** All routes of the API, in the order of the reference. */
function registerRoutes(api: Api, options: ApiOptions): void {
  metricsRoutes(api, options)
  healthRoutes(api, options)
  submitRoutes(api, options)
  runRoutes(api, options)
  stepRoutes(api, options)
  jobRoutes(api, options)
  scheduleRoutes(api, options)
  occurrenceRoutes(api, options)
  forecastRoutes(api, options)
  backfillRoutes(api, options)
  logRoutes(api, options)
  eventRoutes(api, options)
  workerRoutes(api, options)
  adminRoutes(api, options)
  secretRoutes(api, options)
  webhookRoutes(api, options)
  hookRoutes(api, options)
  compatJobRoutes(api, options)
  compatWorkerRoutes(api, options)
  compatSubmitRoutes(api, options)
  uiRoutes(api)
}

function guardUrl(api: Api): void {
  api.addHook('onRequest', ({ url }, _reply, next) => {
    // A URL with a host is meant for a proxy, and may name another host than its header.
    if (!url.startsWith('/')) next(new PunctualError('invalid_request', 'the URL is not a path'))
    else if (url.length <= MAX_URL_LENGTH) next()
    else
      next(new PunctualError('uri_too_long', `the URL is longer than ${MAX_URL_LENGTH} characters`))
  })
}

/** Ids that are unique over restarts and short enough to read out: bug reports start with them. */
function createRequestIds(): () => string {
  const start = randomBytes(4).toString('hex')
  let count = 0
  return () => {
    count += 1
    return `req_${start}_${count.toString(36)}`
  }
}

/**
 * Routes that read parameters refuse unknown ones. For routes that read none this is done here: a
 * `?limit=5` that is ignored would mislead the caller.
 */
function refuseUnreadParameters(api: Api): void {
  api.addHook('preValidation', (request, _reply, next) => {
    const { schema, config } = request.routeOptions
    // Web pages have parameters of their own, which the browser reads.
    if (schema?.querystring !== undefined || config.permission === 'public') return next()
    const [field] = Object.keys(request.query as object)
    if (field === undefined) return next()
    const shown = field.slice(0, 64)
    next(new PunctualError('unknown_field', `${shown} is not a parameter here`, { field: shown }))
  })
}
