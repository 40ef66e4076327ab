import type { HeartbeatPost, Held } from '../../core/wire/protocol.ts'

/** What a worker said in its last heartbeat, for a thread that repeats it. */
export interface Note {
  readonly post: HeartbeatPost
  readonly held: readonly Held[]
  readonly heartbeatMs: number
  /** How far from its sending an answered heartbeat carries. */
  readonly spanMs: number
}

/** What the thread is started with. */
export interface ThreadData {
  /** One number: until when the lease is kept, in nanoseconds of the machine's monotonic clock. */
  readonly until: BigInt64Array<SharedArrayBuffer>
  /** The file that says how long processes may live, if there are any. */
  readonly lifeline: number | undefined
  /** How long somebody who does not say anything is believed to be busy, not lost. */
  readonly patienceMs: number
}
