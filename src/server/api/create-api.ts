import { randomBytes } from 'node:crypto'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { LogController } from 'fastify'
import { PunctualError } from '../../core/errors.ts'
import { LIMITS } from '../../core/limits.ts'
import { adminRoutes } from './admin-routes.ts'
import { guardAccess } from './access.ts'
import type { Api, ApiOptions } from './api.ts'
import { acceptJsonOnly } from './body.ts'
import { answerClientError, MAX_URL_LENGTH } from './client-error.ts'
import { eventRoutes } from './event-routes.ts'
import { healthRoutes } from './health-routes.ts'
import { guardHost } from './host.ts'
import { jobRoutes } from './job-routes.ts'
import { lazyCompilers } from './lazy-validation.ts'
import { logRoutes } from './log-routes.ts'
import { answerUnknownRoutes } from './methods.ts'
import { metricsRoutes } from './metrics-routes.ts'
import { sendProblem } from './problem.ts'
import { referenceRoutes } from './reference-routes.ts'
import { collectRoutes } from './route-table.ts'
import { runRoutes } from './run-routes.ts'
import { submitRoutes } from './submit-routes.ts'
import { uiRoutes } from './ui-routes.ts'
import { refuseUnreadParameters } from './unread-parameters.ts'
import { validationError } from './validation-error.ts'
import { workerRoutes } from './worker-routes.ts'

const REQUEST_TIMEOUT_MS = 30_000
const HEADERS_TIMEOUT_MS = 10_000
/** How often the two above are enforced; Node's own half minute would triple them. */
const TIMEOUT_CHECK_MS = 2_000
const KEEP_ALIVE_MS = 75_000
const MAX_CONNECTIONS = 10_000

/** The HTTP face of a scheduler, ready to listen or to be injected into. */
export function createApi(options: ApiOptions): Api {
  const nextRequestId = createRequestIds()
  const http = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  }
  const transport = options.tls
    ? { https: { ...http, ...options.tls, minVersion: 'TLSv1.2' as const } }
    : { http }
  const api: Api = Fastify({
    ...transport,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
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
    clientErrorHandler: (error, socket) => answerClientError(error, socket, nextRequestId()),
    genReqId: nextRequestId,
    logController: new LogController({ disableRequestLogging: true }),
    ...(options.logger ? { loggerInstance: options.logger } : {}),
  }).withTypeProvider<TypeBoxTypeProvider>()
  api.server.maxConnections = MAX_CONNECTIONS
  api.setErrorHandler(sendProblem)

  guardHost(api, options.allowHosts ?? [])
  guardAccess(api, options)
  guardUrlLength(api)
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
  jobRoutes(api, options)
  logRoutes(api, options)
  eventRoutes(api, options)
  workerRoutes(api, options)
  adminRoutes(api, options)
  uiRoutes(api)
  referenceRoutes(api, routes, options.version ?? 'unknown')
  return api
}

function guardUrlLength(api: Api): void {
  api.addHook('onRequest', (request, _reply, next) => {
    if (request.url.length <= MAX_URL_LENGTH) next()
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
