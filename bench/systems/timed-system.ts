/** The common interface of all schedulers in the `fire` scenario. */
export interface TimedSystem {
  /** Schedules `count` runs for each due time; called before `start`. */
  plan(instants: DueTimes): Promise<void>
  /** Starts the scheduler and a worker; the handler receives the due time of its run. */
  start(handler: (dueAt: number) => void): Promise<void>
  /** Submits one run of another job to start at once; durable when it resolves. */
  submitOther(): Promise<unknown>
  close(): Promise<void>
  /** The number of runs in the store that were created for these due times; called after `close`. */
  countFired(instants: DueTimes): Promise<number>
}

export interface DueTimes {
  readonly count: number
  readonly firstAt: number
  readonly everyMs: number
  readonly times: number
}

export function listDueTimes({ firstAt, everyMs, times }: DueTimes): number[] {
  return Array.from({ length: times }, (_, index) => firstAt + index * everyMs)
}
