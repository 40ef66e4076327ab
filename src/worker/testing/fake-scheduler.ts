import type { Clock } from '../../core/clock.ts'
import { PunctualError, type ErrorCode } from '../../core/errors.ts'
import type {
  Assignment,
  FinishedAttempt,
  Exchange,
  ExchangeAnswer,
  Heartbeat,
  Hello,
  WorkerClient,
} from '../../core/wire/protocol.ts'
import type { OutputEntry } from '../../core/run/output.ts'

export type WorkerCall = 'register' | 'exchange' | 'heartbeat' | 'log' | 'leave'
/**
 * A fault of one request: the request or its answer is lost, no answer ever comes, or an error
 * code.
 */
export type RequestFault = 'lose request' | 'lose answer' | 'hang' | ErrorCode

export interface FakeScheduler extends WorkerClient {
  /** All requests that arrived, as the text on the wire. */
  readonly received: { call: WorkerCall; text: string; atMono: number }[]
  messages(call: 'exchange'): Exchange[]
  messages(call: 'heartbeat'): Heartbeat[]
  messages(call: 'register'): Hello[]
  messages(call: 'leave'): { session: string; registration: number }[]
  /** Accepted reports, by run. More than one for a run is a bug of the worker. */
  readonly ended: Map<string, FinishedAttempt[]>
  /** Chunks stored before the end, by run. */
  chunksOf(run: string): readonly (readonly OutputEntry[])[]
  submit(run: string, extra?: Partial<Assignment>): void
  /** Takes a run away from the worker that holds it. */
  lose(run: string): void
  cancel(run: string): void
  /** Applies these faults to the next requests of this kind, one each. */
  fail(call: WorkerCall, ...faults: RequestFault[]): void
  /** While true, no request or answer arrives. */
  isCutOff: boolean
  /** While true, exchanges are answered, but the answers stay in flight until `release`. */
  isSlow: boolean
  release(): void
}

interface Grant extends Assignment {
  /** The last exchange whose answer contained the run. */
  exchange: number
}

const SECRET = 'secret of ses_1'

function requireSecret(secret: string | undefined): void {
  if (secret !== SECRET) throw new PunctualError('session_unknown', 'not your session')
}

/** For workers on real time: other tests cover leases that expire because the machine is busy. */
export const LONG_LEASE = { leaseTtlMs: 120_000, heartbeatMs: 3_000 }

/**
 * An in-memory server that follows the worker protocol exactly, except for the requested faults.
 */
export function createFakeScheduler(
  clock: Clock,
  times = { leaseTtlMs: 10_000, heartbeatMs: 3_000 },
): FakeScheduler {
  const queue: Assignment[] = []
  const grants = new Map<string, Grant>()
  const faults: Record<WorkerCall, RequestFault[]> = {
    register: [],
    exchange: [],
    heartbeat: [],
    log: [],
    leave: [],
  }
  const logs = new Map<string, readonly (readonly OutputEntry[])[]>()
  const cancels = new Set<string>()
  let held: (() => void)[] = []
  let registration = 0
  // Processes are found by their fences: two tests on one machine must not find each other's.
  let lastFence = process.pid * 1_000
  let seen = 0
  let confirmed = 0
  let pending: { message: Exchange; settle(): void } | undefined

  const unconfirmed = () => [...grants.values()].filter(({ exchange }) => exchange > confirmed)
  const isOwner = ({ run, fence }: { run: string; fence: number }) =>
    grants.get(run)?.fence === fence
  const weightOf = (runs: readonly Assignment[]) =>
    runs.reduce((sum, { weight }) => sum + weight, 0)

  const deal = (free: number) => {
    let room = free - weightOf(unconfirmed())
    while (queue[0] && queue[0].weight <= room) {
      const run = queue.shift() as Assignment
      lastFence += 1
      grants.set(run.run, { ...run, fence: lastFence, exchange: Infinity })
      room -= run.weight
    }
  }
  const rule = (done: FinishedAttempt) => {
    if (!isOwner(done)) {
      const isRepeated = fake.ended.get(done.run)?.some(({ fence }) => fence === done.fence)
      return isRepeated ? 'accepted' : 'stale'
    }
    grants.delete(done.run)
    fake.ended.set(done.run, [...(fake.ended.get(done.run) ?? []), done])
    return 'accepted'
  }
  const requireCurrent = (claimed: number) => {
    if (registration === 0) throw new PunctualError('session_unknown', 'who are you?')
    if (claimed !== registration) throw new PunctualError('session_superseded', 'an older one')
  }

  const answer = async (message: Exchange): Promise<ExchangeAnswer> => {
    requireCurrent(message.registration)
    if (message.number < seen) throw new PunctualError('exchange_out_of_order', 'too late')
    pending?.settle()
    seen = message.number
    confirmed = Math.max(confirmed, message.answered)
    const verdicts = message.done.map(rule)
    deal(message.free)
    if (unconfirmed().length === 0 && message.waitMs > 0) {
      const timer = new AbortController()
      const waiting = { message, settle: () => timer.abort() }
      pending = waiting
      await clock.sleep(message.waitMs, timer.signal)
      if (pending === waiting) pending = undefined
    }
    const runs = seen === message.number ? unconfirmed() : []
    for (const grant of runs) grant.exchange = message.number
    return { number: message.number, verdicts, runs: runs.map(({ exchange: _, ...run }) => run) }
  }

  /** Applies the faults of a call to its request and its answer. */
  const carry = async <T>(
    call: WorkerCall,
    message: unknown,
    handle: () => T | Promise<T>,
  ): Promise<T> => {
    const fault = faults[call].shift()
    if (fake.isCutOff || fault === 'lose request') throw new Error('connection refused')
    fake.received.push({ call, text: JSON.stringify(message), atMono: clock.mono() })
    if (fault === 'hang') return new Promise(() => {})
    if (fault !== undefined && fault !== 'lose answer')
      throw new PunctualError(fault, 'injected fault')
    const result = await handle()
    if (fake.isSlow && call === 'exchange') await new Promise<void>((go) => held.push(go))
    if (fake.isCutOff || fault === 'lose answer') throw new Error('connection reset')
    return result
  }

  const fake: FakeScheduler = {
    received: [],
    ended: new Map(),
    isCutOff: false,
    isSlow: false,
    messages: (call: WorkerCall) =>
      fake.received.filter((one) => one.call === call).map(({ text }) => JSON.parse(text)),

    register: (hello, secret) =>
      carry('register', hello, () => {
        if (hello.session) requireSecret(secret)
        if (hello.session && hello.registration <= registration) requireCurrent(hello.registration)
        registration = hello.registration
        seen = confirmed = 0
        pending?.settle()
        const lost = hello.held.filter((one) => !isOwner(one)).map(({ run }) => run)
        const listed = new Set(hello.held.map(({ run }) => run))
        for (const grant of grants.values()) {
          grant.exchange = 0
          if (listed.has(grant.run)) continue
          const isForsaken = hello.forsaken.some(({ fence }) => fence === grant.fence)
          giveBack({ ...grant, attempt: grant.attempt + (isForsaken ? 1 : 0) })
        }
        if (hello.session) return { session: hello.session, ...times, lost }
        return { session: 'ses_1', secret: SECRET, ...times, lost }
      }),
    exchange: ({ secret }, message, signal) =>
      abortable(
        signal,
        carry('exchange', message, () => {
          requireSecret(secret)
          return answer(message)
        }),
      ),
    heartbeat: ({ secret }, message) =>
      carry('heartbeat', message, () => {
        requireSecret(secret)
        requireCurrent(message.registration)
        const listed = new Set(message.held.map(({ run }) => run))
        for (const grant of grants.values()) {
          if (grant.exchange <= message.answered && !listed.has(grant.run)) giveBack(grant)
        }
        const lost = message.held.filter((one) => !isOwner(one)).map(({ run }) => run)
        return { lost, cancels: [...listed].filter((run) => cancels.has(run)) }
      }),
    log: ({ secret }, message) =>
      carry('log', message, () => {
        requireSecret(secret)
        requireCurrent(message.registration)
        return {
          stored: message.chunks.map((one) => {
            if (!isOwner(one)) return null
            const chunks = logs.get(one.run) ?? []
            if (one.chunk === chunks.length) logs.set(one.run, [...chunks, one.entries])
            return logs.get(one.run)?.length ?? 0
          }),
        }
      }),
    leave: ({ id, secret }, number) =>
      carry('leave', { session: id, registration: number }, () => {
        requireSecret(secret)
        pending?.settle()
        for (const grant of grants.values()) giveBack(grant)
      }),

    submit(run, extra) {
      const defaults = { job: 'job', project: 'default', attempt: 1, weight: 1, timeoutMs: null }
      const none = { work: null, task: null, input: null }
      queue.push({ run, fence: 0, ...defaults, dueAt: 0, ...none, ...extra })
      if (!pending) return
      deal(pending.message.free)
      if (unconfirmed().length > 0) pending.settle()
    },
    chunksOf: (run) => logs.get(run) ?? [],
    lose: (run) => void grants.delete(run),
    cancel: (run) => void cancels.add(run),
    fail: (call, ...list) => void faults[call].push(...list),
    release() {
      fake.isSlow = false
      for (const go of held) go()
      held = []
    },
  }

  function giveBack({ exchange: _, ...run }: Grant) {
    grants.delete(run.run)
    queue.push(run)
  }
  return fake
}

/** As fetch does: the caller is released at once, the server finishes its work. */
async function abortable<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
  })
  return Promise.race([work, aborted])
}
