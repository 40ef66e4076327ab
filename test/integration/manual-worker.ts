import type {
  Done,
  Exchange,
  ExchangeAnswer,
  Held,
  SchedulerClient,
} from '../../src/core/wire/protocol.ts'

/** A worker that says exactly what the test makes it say. */
export interface HandWorker {
  readonly session: string
  exchange(message?: Partial<Exchange>): Promise<ExchangeAnswer>
  heartbeat(answered: number, held: readonly Held[]): ReturnType<SchedulerClient['heartbeat']>
  /** Takes what there is, confirming everything before. */
  take(free?: number): Promise<ExchangeAnswer['runs']>
  report(done: readonly Done[], free?: number): Promise<ExchangeAnswer>
}

export async function registerByHand(
  client: SchedulerClient,
  given: {
    name?: string
    jobs?: readonly string[]
    /** What else it can do. */
    executors?: readonly string[]
    labels?: Readonly<Record<string, string>>
    queues?: readonly string[]
    projects?: readonly string[]
    slots?: number
    session?: string
    registration?: number
    features?: readonly string[]
    held?: readonly Held[]
    forsaken?: readonly Held[]
  } = {},
): Promise<HandWorker> {
  const { name = 'by-hand', jobs = ['job'], queues = ['default'], slots = 10 } = given
  const { registration = 1 } = given
  const { session } = await client.register({
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
  let number = 0
  const worker: HandWorker = {
    session,
    exchange(message = {}) {
      number += 1
      const base = { registration, number, answered: number - 1, done: [], free: slots, waitMs: 0 }
      return client.exchange(session, { ...base, ...message })
    },
    heartbeat: (answered, held) => client.heartbeat(session, { registration, answered, held }),
    take: async (free = slots) => (await worker.exchange({ free })).runs,
    report: (done, free = slots) => worker.exchange({ done, free }),
  }
  return worker
}

function attemptsIn(held: readonly Held[] = []): Held[] {
  return held.map(({ run, fence }) => ({ run, fence }))
}

export function succeeded({ run, fence }: Held): Done {
  return { run, fence, outcome: 'succeeded' }
}
