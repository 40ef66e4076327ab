import type {
  FinishedAttempt,
  Exchange,
  ExchangeAnswer,
  LeasedAttempt,
  SchedulerClient,
} from '../../src/core/wire/protocol.ts'

/** A worker that sends exactly what the test says. */
export interface ManualWorker {
  readonly session: string
  exchange(message?: Partial<Exchange>): Promise<ExchangeAnswer>
  heartbeat(
    answered: number,
    held: readonly LeasedAttempt[],
  ): ReturnType<SchedulerClient['heartbeat']>
  /** Takes available work and confirms everything before. */
  take(free?: number): Promise<ExchangeAnswer['runs']>
  report(done: readonly FinishedAttempt[], free?: number): Promise<ExchangeAnswer>
}

export async function registerManualWorker(
  client: SchedulerClient,
  given: {
    name?: string
    jobs?: readonly string[]
    /** Additional executors. */
    executors?: readonly string[]
    labels?: Readonly<Record<string, string>>
    queues?: readonly string[]
    projects?: readonly string[]
    slots?: number
    session?: string
    registration?: number
    features?: readonly string[]
    held?: readonly LeasedAttempt[]
    forsaken?: readonly LeasedAttempt[]
  } = {},
): Promise<ManualWorker> {
  const { name = 'by-hand', jobs = ['job'], queues = ['default'], slots = 10 } = given
  const { registration = 1 } = given
  const { session, secret } = await client.register({
    name,
    queues,
    labels: given.labels ?? {},
    executors: [...jobs.map((job) => `handler:${job}`), ...(given.executors ?? [])],
    features: given.features,
    slots,
    registration,
    held: attemptsIn(given.held),
    forsaken: attemptsIn(given.forsaken),
    ...(given.session === undefined ? {} : { session: given.session }),
    ...(given.projects === undefined ? {} : { projects: given.projects }),
  })
  const key = { id: session, secret }
  let number = 0
  const worker: ManualWorker = {
    session,
    exchange(message = {}) {
      number += 1
      const base = { registration, number, answered: number - 1, done: [], free: slots, waitMs: 0 }
      return client.exchange(key, { ...base, ...message })
    },
    heartbeat: (answered, held) => client.heartbeat(key, { registration, answered, held }),
    take: async (free = slots) => (await worker.exchange({ free })).runs,
    report: (done, free = slots) => worker.exchange({ done, free }),
  }
  return worker
}

function attemptsIn(held: readonly LeasedAttempt[] = []): LeasedAttempt[] {
  return held.map(({ run, fence }) => ({ run, fence }))
}

export function succeeded({ run, fence }: LeasedAttempt): FinishedAttempt {
  return { run, fence, outcome: 'succeeded' }
}
