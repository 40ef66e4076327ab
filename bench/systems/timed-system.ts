/** What a scheduler is asked when it is about time: the same words for all. */
export interface TimedSystem {
  /** Makes that many runs due at each of these instants; nothing is running yet. */
  plan(instants: Instants): Promise<void>
  /** Starts what fires and a worker; the handler is told when its run was due. */
  start(handler: (dueAt: number) => void): Promise<void>
  /** Submits one run of another job that wants to start at once; durable when it resolves. */
  submitOther(): Promise<unknown>
  close(): Promise<void>
  /** How many runs the store says were made for these instants; asked after `close`. */
  countFired(instants: Instants): Promise<number>
}

export interface Instants {
  readonly count: number
  readonly firstAt: number
  readonly everyMs: number
  readonly times: number
}

export function timesOf({ firstAt, everyMs, times }: Instants): number[] {
  return Array.from({ length: times }, (_, index) => firstAt + index * everyMs)
}
