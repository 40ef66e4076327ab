import type { Clock } from '../../core/clock.ts'
import { PunctualError, type ErrorCode } from '../../core/errors.ts'
import type {
  Assignment,
  Done,
  Exchange,
  ExchangeAnswer,
  Heartbeat,
  Hello,
  Working,
} from '../../core/wire/protocol.ts'
import type { Entry } from '../../core/run/output.ts'

export type Call = 'register' | 'exchange' | 'heartbeat' | 'log' | 'leave'
/** What happens to one request: it or its answer gets lost, nothing ever comes back, or a refusal. */
export type Fault = 'lose request' | 'lose answer' | 'hang' | ErrorCode

export interface FakeScheduler extends Working {
  /** Everything that arrived, as the text that would have crossed the wire. */
  readonly heard: { call: Call; text: string; atMono: number }[]
  messages(call: 'exchange'): Exchange[]
  messages(call: 'heartbeat'): Heartbeat[]
  messages(call: 'register'): Hello[]
  messages(call: 'leave'): { session: string; registration: number }[]
  /** Accepted reports, by run. More than one for a run is a bug in whoever reported. */
  readonly ended: Map<string, Done[]>
  /** Chunks stored before the end, by run. */
  chunksOf(run: string): readonly (readonly Entry[])[]
  submit(run: string, extra?: Partial<Assignment>): void
  /** Takes a run away from whoever holds it. */
  lose(run: string): void
  cancel(run: string): void
  /** Meets the next requests of this kind, one fault each. */
  fail(call: Call, ...faults: Fault[]): void
  /** While true, nothing gets through in either direction. */
  isCutOff: boolean
  /** While true, exchanges are answered, but the answers stay on the wire until `release`. */
  isSlow: boolean
  release(): void
}

interface Grant extends Assignment {
  /** The exchange whose answer carried it last. */
  exchange: number
}

/** For workers on real time: a lease that runs out because the machine is busy is for other tests. */
export const UNHURRIED = { leaseTtlMs: 120_000, heartbeatMs: 3_000 }

/** A server in memory that keeps the worker protocol to the letter, and breaks where it is told to. */
export function createFakeScheduler(
  clock: Clock,
  times = { leaseTtlMs: 10_000, heartbeatMs: 3_000 },
): FakeScheduler {
  const queue: Assignment[] = []
  const grants = new Map<string, Grant>()
  const faults: Record<Call, Fault[]> = {
    ...{ register: [], exchange: [], heartbeat: [], log: [], leave: [] },
  }
  const logs = new Map<string, readonly (readonly Entry[])[]>()
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
  const rule = (done: Done) => {
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

  /** Applies the faults of a call on the way in and on the way out. */
  const carry = async <T>(
    call: Call,
    message: unknown,
    handle: () => T | Promise<T>,
  ): Promise<T> => {
    const fault = faults[call].shift()
    if (fake.isCutOff || fault === 'lose request') throw new Error('connection refused')
    fake.heard.push({ call, text: JSON.stringify(message), atMono: clock.mono() })
    if (fault === 'hang') return new Promise(() => {})
    if (fault !== undefined && fault !== 'lose answer') throw new PunctualError(fault, 'as told')
    const result = await handle()
    if (fake.isSlow && call === 'exchange') await new Promise<void>((go) => held.push(go))
    if (fake.isCutOff || fault === 'lose answer') throw new Error('connection reset')
    return result
  }

  const fake: FakeScheduler = {
    heard: [],
    ended: new Map(),
    isCutOff: false,
    isSlow: false,
    messages: (call: Call) =>
      fake.heard.filter((one) => one.call === call).map(({ text }) => JSON.parse(text)),

    register: (hello) =>
      carry('register', hello, () => {
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
        return { session: hello.session ?? 'ses_1', ...times, lost }
      }),
    exchange: (_session, message, signal) =>
      abortable(
        signal,
        carry('exchange', message, () => answer(message)),
      ),
    heartbeat: (_session, message) =>
      carry('heartbeat', message, () => {
        requireCurrent(message.registration)
        const listed = new Set(message.held.map(({ run }) => run))
        for (const grant of grants.values()) {
          if (grant.exchange <= message.answered && !listed.has(grant.run)) giveBack(grant)
        }
        const lost = message.held.filter((one) => !isOwner(one)).map(({ run }) => run)
        return { lost, cancels: [...listed].filter((run) => cancels.has(run)) }
      }),
    log: (_session, message) =>
      carry('log', message, () => {
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
    leave: (session, number) =>
      carry('leave', { session, registration: number }, () => {
        pending?.settle()
        for (const grant of grants.values()) giveBack(grant)
      }),

    submit(run, extra) {
      const usual = { job: 'job', project: 'default', attempt: 1, weight: 1, timeoutMs: null }
      const none = { work: null, task: null, input: null }
      queue.push({ run, fence: 0, ...usual, dueAt: 0, ...none, ...extra })
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

/** As fetch does: the caller is let go at once, the server finishes what it was doing. */
async function abortable<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
  })
  return Promise.race([work, aborted])
}
