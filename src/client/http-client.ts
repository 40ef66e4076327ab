import type {
  Heartbeat,
  HeartbeatPost,
  LogAnswer,
  SchedulerClient,
  SessionKey,
  Submission,
  SubmitAnswer,
} from '../core/wire/protocol.ts'
import * as workerWire from '../core/wire/worker.ts'
import * as wire from '../core/wire/runs.ts'
import { throwFirstError, type SubmitOutcome } from '../core/wire/submit-outcome.ts'
import { errorOfAnswer } from './call-error.ts'
import { createSubmitQueue } from './submit-queue.ts'
import { type TransportCall, SESSION_SECRET, type Transport } from './transport.ts'

/** A heartbeat that takes longer is treated as lost, to try another server in time. */
const HEARTBEAT_TIMEOUT_MS = 5_000
const ANSWER_TIMEOUT_MS = 15_000

type Post = (path: string, message: object, more?: Partial<TransportCall>) => Promise<unknown>

/** The calls about runs, and those of a worker. */
type RunCalls = Pick<
  SchedulerClient,
  'submit' | 'submitEach' | 'getRun' | 'listRuns' | 'cancel' | 'retry'
>
type WorkerCalls = Omit<SchedulerClient, keyof RunCalls>

/** The scheduler protocol over HTTP: each method is one route, converted by `core/wire`. */
export function createHttpClient(transport: Transport): SchedulerClient {
  const post: Post = (path, message, more) =>
    transport.call({
      method: 'POST',
      path,
      body: JSON.stringify(message),
      mayRepeat: false,
      ...more,
    })
  return { ...createRunCalls(transport, post), ...createWorkerCalls(transport, post) }
}

function createRunCalls(transport: Transport, post: Post): RunCalls {
  const get = (path: string) => transport.call({ method: 'GET', path, mayRepeat: true })
  const queueOf = (mayRepeat: boolean) =>
    createSubmitQueue(async (body) => {
      const call: TransportCall = { method: 'POST', path: '/v1/runs:batch', body, mayRepeat }
      return ((await transport.call(call)) as { runs: wire.WireOutcome[] }).runs.map(readOutcome)
    })
  // Separate queues, because after a lost answer only runs with a key may be sent again.
  const keyed = queueOf(true)
  const unkeyed = queueOf(false)
  const submitEach: RunCalls['submitEach'] = (submissions) =>
    (submissions.every(hasKey) ? keyed : unkeyed).submit(submissions)

  return {
    submit: async (submissions) => throwFirstError(await submitEach(submissions)),
    submitEach,

    getRun: async (id) => wire.readRun((await get(runPath(id))) as wire.WireRun),

    async listRuns(query = {}) {
      const parameters = new URLSearchParams()
      for (const [name, value] of Object.entries(query)) {
        if (value !== undefined) parameters.set(name, String(value))
      }
      return wire.readRunPage((await get(`/v1/runs?${parameters.toString()}`)) as wire.WireRunPage)
    },

    cancel: async (id) =>
      (await post(`${runPath(id)}/cancel`, {})) as Awaited<ReturnType<SchedulerClient['cancel']>>,

    retry: async (id, idempotencyKey, how = {}) =>
      (await post(`${runPath(id)}/retry`, how, {
        idempotencyKey,
        mayRepeat: idempotencyKey !== undefined,
      })) as SubmitAnswer,
  }
}

function createWorkerCalls({ requestParts }: Transport, post: Post): WorkerCalls {
  return {
    async register(hello, sessionSecret) {
      const answer = await post('/v1/workers', hello, { sessionSecret })
      return workerWire.readWelcome(answer as workerWire.WireWelcome)
    },

    async exchange(session, message, signal) {
      const answer = await post(
        `${sessionPath(session)}/exchange`,
        workerWire.writeExchange(message),
        {
          mayRepeat: true,
          sessionSecret: session.secret,
          signal,
          timeoutMs: message.waitMs + ANSWER_TIMEOUT_MS,
        },
      )
      return workerWire.readExchangeAnswer(answer as workerWire.WireExchangeAnswer)
    },

    heartbeat: async (session, message) =>
      (await post(`${sessionPath(session)}/heartbeat`, message, {
        mayRepeat: true,
        sessionSecret: session.secret,
        timeoutMs: HEARTBEAT_TIMEOUT_MS,
      })) as Awaited<ReturnType<SchedulerClient['heartbeat']>>,

    ...(requestParts && { heartbeatPost: describeHeartbeat(requestParts) }),

    log: async (session, message) =>
      (await post(`${sessionPath(session)}/logs`, message, {
        mayRepeat: true,
        sessionSecret: session.secret,
        timeoutMs: ANSWER_TIMEOUT_MS,
      })) as LogAnswer,

    async leave(session, registration) {
      const sessionSecret = session.secret
      await post(`${sessionPath(session)}/leave`, { registration }, { sessionSecret })
    },
  }
}

function describeHeartbeat({ urlsOf, headers }: NonNullable<Transport['requestParts']>) {
  return (session: SessionKey, message: Heartbeat): HeartbeatPost => ({
    urls: urlsOf(`${sessionPath(session)}/heartbeat`),
    headers: { ...headers, ...(session.secret && { [SESSION_SECRET]: session.secret }) },
    body: JSON.stringify(message),
  })
}

function readOutcome(outcome: wire.WireOutcome): SubmitOutcome {
  return 'error' in outcome
    ? errorOfAnswer(outcome.error.status, outcome.error, undefined)
    : outcome
}

function hasKey({ idempotencyKey, dedupeKey }: Submission): boolean {
  return idempotencyKey !== undefined || dedupeKey !== undefined
}

function runPath(id: string): string {
  return `/v1/runs/${encodeURIComponent(id)}`
}

function sessionPath({ id }: SessionKey): string {
  return `/v1/workers/${encodeURIComponent(id)}`
}
