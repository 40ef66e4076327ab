import type { Assignment, Exchange, ExchangeAnswer, Welcome } from './protocol.ts'
import type { GivenSecret } from '../secrets/secret.ts'
import type { Work } from '../work/work.ts'

/** Messages between workers and nodes, as JSON. */
export interface WireWelcome {
  readonly session: string
  readonly session_secret?: string | undefined
  /** Absent from servers that know only the first version. */
  readonly protocol?: number | undefined
  readonly worker?: string | undefined
  readonly lease_ttl_ms: number
  readonly heartbeat_ms: number
  readonly lost: readonly string[]
}

export function writeWelcome(welcome: Welcome): WireWelcome {
  const { session, protocol, secret, worker, leaseTtlMs, heartbeatMs, lost } = welcome
  return {
    session,
    protocol,
    ...(secret === undefined ? {} : { session_secret: secret }),
    worker,
    lease_ttl_ms: leaseTtlMs,
    heartbeat_ms: heartbeatMs,
    lost,
  }
}

export function readWelcome(wire: WireWelcome): Welcome {
  const { session, protocol, session_secret: secret, worker, lost } = wire
  return {
    session,
    protocol,
    secret,
    worker,
    lost,
    leaseTtlMs: wire.lease_ttl_ms,
    heartbeatMs: wire.heartbeat_ms,
  }
}

export interface WireExchange extends Omit<Exchange, 'waitMs'> {
  readonly wait_ms: number
}

export function readExchange(wire: WireExchange): Exchange {
  const { registration, number, answered, done, free, wait_ms } = wire
  return { registration, number, answered, done, free, waitMs: wait_ms }
}

export function writeExchange(message: Exchange): WireExchange {
  const { registration, number, answered, done, free, waitMs } = message
  return { registration, number, answered, done, free, wait_ms: waitMs }
}

export interface WireExchangeAnswer extends Omit<ExchangeAnswer, 'runs'> {
  readonly runs: readonly WireAssignment[]
}

/** Only workers read it, thousands per second: its time is a number, and default values are omitted. */
export interface WireAssignment extends Pick<Assignment, 'run' | 'fence' | 'job' | 'project'> {
  readonly due_at_ms: number
  /** 1 by default. */
  readonly attempt?: number
  readonly weight?: number
  /** None by default. */
  readonly timeout_ms?: number
  readonly work?: Work
  readonly task?: string
  readonly input?: string
  readonly secrets?: readonly GivenSecret[]
}

export function writeExchangeAnswer(answer: ExchangeAnswer): WireExchangeAnswer {
  const { number, verdicts, runs } = answer
  return { number, verdicts, runs: runs.map(writeAssignment) }
}

export function readExchangeAnswer(wire: WireExchangeAnswer): ExchangeAnswer {
  const { number, verdicts, runs } = wire
  return { number, verdicts, runs: runs.map(readAssignment) }
}

function writeAssignment(assigned: Assignment): WireAssignment {
  const { run, fence, job, project, attempt, weight, timeoutMs, dueAt } = assigned
  const { work, task, input, secrets } = assigned
  // JSON omits `undefined`; one object shape is faster to create than sixteen.
  return {
    run,
    fence,
    job,
    project,
    due_at_ms: dueAt,
    attempt: attempt === 1 ? undefined : attempt,
    weight: weight === 1 ? undefined : weight,
    timeout_ms: timeoutMs ?? undefined,
    work: work ?? undefined,
    task: task ?? undefined,
    input: input ?? undefined,
    secrets,
  } as WireAssignment
}

function readAssignment(wire: WireAssignment): Assignment {
  const { run, fence, job, project, attempt = 1, weight = 1, timeout_ms, due_at_ms } = wire
  const { work, task, input, secrets } = wire
  return {
    run,
    fence,
    job,
    project,
    attempt,
    weight,
    timeoutMs: timeout_ms ?? null,
    dueAt: due_at_ms,
    work: work ?? null,
    task: task ?? null,
    input: input ?? null,
    ...(secrets && { secrets }),
  }
}
