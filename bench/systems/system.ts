import type { RunShape } from './run-shapes.ts'

/** The common interface of all schedulers, as the workloads need it. Trees of other commits implement it too. */
export interface System {
  /** Starts a worker whose handler only calls `handler`. */
  work(handler: () => void): Promise<void>
  /** Submits `count` no-op runs in one call; durable when it resolves. */
  submitMany(count: number): Promise<unknown>
  /** Submits one run in its own request; durable when it resolves. */
  submitOne(): Promise<unknown>
  /** Resolves once every run handled so far has durably ended. */
  settled(): Promise<void>
  /** Processor time used so far by the system's other processes, without the database. */
  otherCpuMs?(): Promise<number>
  /** Stops everything except the store. */
  close(): Promise<void>
  /** The number of ended runs in the store; called after `close`. */
  countEnded(): Promise<number>
  /** The number of submitted runs in the store, ended or not; called after `close`. */
  countSubmitted(): Promise<number>
}

/** What the system is tuned for; each system maps it to its own best settings. */
export type Purpose = 'throughput' | 'single' | 'latency'

export type SystemName = 'graphile' | 'pg-boss' | 'punctual-http' | 'punctual-in-process'

export interface SystemSettings {
  readonly system: SystemName
  readonly purpose: Purpose
  /** `postgres://…` or `sqlite:path`. */
  readonly store: string
  /** What runs require; default `plain`. */
  readonly shape?: RunShape
  /** Pid of the database server, to measure its processor time. */
  readonly postgresPid?: number
}
