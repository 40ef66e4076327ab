import type { Shape } from './run-shapes.ts'

/** What the workloads need from a scheduler, ours or another: the same words for all. */
export interface System {
  /** Starts a worker whose handler does nothing but call this. */
  work(handler: () => void): Promise<void>
  /** Submits that many no-op runs in one call; durable when it resolves. */
  submitMany(count: number): Promise<unknown>
  /** Submits one run by itself; durable when it resolves. */
  submitOne(): Promise<unknown>
  /** Resolves once every run handled so far has durably ended, and not before. */
  settled(): Promise<void>
  /** Processor time its other processes have used so far; the database's is not counted. */
  otherCpuMs?(): Promise<number>
  /** Ends everything but the store. */
  close(): Promise<void>
  /** How many runs have ended, according to the store; asked after `close`. */
  countEnded(): Promise<number>
  /** How many runs the store has seen, ended or not; asked after `close`. */
  countSubmitted(): Promise<number>
}

/** What the system is tuned for; each translates it into its own best settings. */
export type Purpose = 'throughput' | 'single' | 'latency'

export type SystemName = 'graphile' | 'pg-boss' | 'punctual-http' | 'punctual-in-process'

export interface SystemSettings {
  readonly system: SystemName
  readonly purpose: Purpose
  /** `postgres://…` or `sqlite:path`. */
  readonly store: string
  /** What runs ask for; nothing if absent. */
  readonly shape?: Shape
  /** The database server, to see what of the work it does. */
  readonly postgresPid?: number
}
