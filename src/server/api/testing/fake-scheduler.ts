import { PunctualError } from '../../../core/errors.ts'
import { publicId } from '../../../core/ids.ts'
import type {
  Exchange,
  Heartbeat,
  Hello,
  ListQuery,
  RunView,
  SchedulerClient,
  Submission,
} from '../../../core/wire/protocol.ts'
import { throwFirstError } from '../../../core/wire/submit-outcome.ts'
import { createVirtualClock } from '../../../../test/support/virtual-clock.ts'
import type { Administration } from '../../admin/administration.ts'
import type { CompatApi } from '../../compat/compat-api.ts'
import { ROOT } from '../../identity/caller.ts'
import { createApi } from '../create-api.ts'
import type { Api, ApiOptions } from '../http/api.ts'

export const TEST_TOKEN = 'punctual_test_token_0123456789abcdef'
export const RUN = publicId('run', 1)
export const SESSION = publicId('ses', 1)

/** Records its calls and makes up runs: enough of a scheduler to test the API. */
export interface FakeSchedulerClient extends SchedulerClient {
  /** One entry per call of `submit`. */
  readonly submitted: (readonly Submission[])[]
  readonly heard: {
    hello?: Hello
    exchange?: Exchange
    heartbeat?: Heartbeat
    list?: ListQuery | undefined
    left?: string
    signal?: AbortSignal | undefined
  }
}

export function createFakeSchedulerClient(
  overrides: Partial<SchedulerClient> = {},
): FakeSchedulerClient {
  const submitted: (readonly Submission[])[] = []
  const heard: FakeSchedulerClient['heard'] = {}
  const known = new Map<string, string>()
  let count = 0
  const mint = () => {
    count += 1
    return publicId('run', count)
  }
  const scheduler: FakeSchedulerClient = {
    submitted,
    heard,
    submit: async (submissions) => throwFirstError(await scheduler.submitEach(submissions)),
    async submitEach(submissions) {
      submitted.push(submissions)
      return submissions.map(({ idempotencyKey: key }) => {
        const existing = key === undefined ? undefined : known.get(key)
        if (existing !== undefined) return { id: existing, created: false }
        const id = mint()
        if (key !== undefined) known.set(key, id)
        return { id, created: true }
      })
    },
    async getRun(id) {
      if (id !== RUN) throw new PunctualError('run_not_found', `there is no run ${id}`)
      return exampleRun(id)
    },
    async listRuns(query) {
      heard.list = query
      return { runs: [exampleRun(RUN)], next: 'MTox' }
    },
    cancel: async (id) => ({ id, state: 'cancelled' }),
    retry: async () => ({ id: mint(), created: true }),
    async register(hello) {
      heard.hello = hello
      return {
        session: hello.session ?? SESSION,
        secret: 'S',
        protocol: 2,
        worker: publicId('wrk', 1),
        leaseTtlMs: 10_000,
        heartbeatMs: 3_000,
        lost: [],
      }
    },
    async exchange(_session, message, signal) {
      heard.exchange = message
      heard.signal = signal
      const runs = [exampleAssignment].slice(0, message.free)
      return { number: message.number, verdicts: message.done.map(() => 'accepted' as const), runs }
    },
    log: async (_session, { chunks }) => ({ stored: chunks.map(({ chunk }) => chunk + 1) }),
    async heartbeat(_session, message) {
      heard.heartbeat = message
      return { lost: [], cancels: message.held.map(({ run }) => run) }
    },
    async leave(session) {
      heard.left = session.id
    },
    ...overrides,
  }
  return scheduler
}

export function createTestApi(
  scheduler: SchedulerClient = createFakeSchedulerClient(),
  options: Partial<ApiOptions> = {},
): Api {
  return createApi({
    clientFor: () => scheduler,
    workingFor: () => scheduler,
    health: { live: () => true, ready: async () => ({ ok: true }) },
    admin: {} as Administration,
    compat: {} as CompatApi,
    identify: (token) => (token === TEST_TOKEN ? ROOT : null),
    clock: createVirtualClock(),
    // This clock does not advance, so a slot must not wait for it.
    lists: { leastMs: 0 },
    ...options,
  })
}

/** A test API that adds the project of each request to `projects`. */
export function createProjectRecordingApi(scheduler: SchedulerClient, projects: string[]): Api {
  return createTestApi(scheduler, {
    clientFor(project) {
      projects.push(project)
      return scheduler
    },
    workingFor({ project }) {
      projects.push(project)
      return scheduler
    },
  })
}

const exampleAssignment = {
  run: RUN,
  fence: 7,
  job: 'send-invoice',
  project: 'default',
  attempt: 1,
  weight: 1,
  timeoutMs: 900_000,
  dueAt: Date.UTC(2026, 0, 31, 9),
  work: null,
  task: null,
  input: '{"month":"2026-01"}',
}

export function exampleRun(id: string): RunView {
  return {
    id,
    job: 'send-invoice',
    project: 'default',
    queue: 'default',
    version: 1,
    state: 'running',
    cancelling: false,
    priority: 0,
    attempt: 1,
    lost: 0,
    cause: null,
    message: null,
    worker: 'w1',
    process: null,
    progress: null,
    createdAt: Date.UTC(2026, 0, 31, 9),
    createdBy: 'ci',
    dueAt: null,
    startedAt: Date.UTC(2026, 0, 31, 9, 0, 1),
    finishedAt: null,
    retryOf: null,
    tags: { region: 'eu' },
    work: null,
    secrets: [],
    input: { month: '2026-01' },
    result: null,
    inputBytes: null,
    resultBytes: null,
  }
}
