import type { HeartbeatPost, LeasedAttempt } from '../../core/wire/protocol.ts'

/** The worker's last heartbeat, for the heartbeat thread to repeat. */
export interface LastHeartbeat {
  readonly post: HeartbeatPost
  readonly held: readonly LeasedAttempt[]
  readonly heartbeatMs: number
  /** How long an answered heartbeat extends the lease, from the time it was sent. */
  readonly spanMs: number
}

/** The parameters the heartbeat thread is started with. */
export interface ThreadData {
  /** One number: until when the lease is held, in nanoseconds of the machine's monotonic clock. */
  readonly until: BigInt64Array<SharedArrayBuffer>
  /** The file that says how long processes may live, if there are any. */
  readonly lifeline: number | undefined
  /** How long a silent worker is assumed to be busy, not lost. */
  readonly patienceMs: number
}
