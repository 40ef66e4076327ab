import { LIMITS } from '../../core/limits.ts'

/** The times and bounds a node lives by. Tests shorten them; users rarely need to. */
export interface NodeConfig {
  readonly name: string
  /** A worker session that was silent this long has lost its leases. */
  readonly leaseTtlMs: number
  readonly heartbeatMs: number
  /** The same for a worker that speaks the plain protocol: any request of it counts. */
  readonly plainTtlMs: number
  /** A node row that was not renewed this long may be declared dead by any other node. */
  readonly nodeTtlMs: number
  readonly nodeBeatMs: number
  /** How long its own row must have been renewed without a gap before a node may judge others. */
  readonly steadyMs: number
  /** How often a node stops believing that lanes it saw empty still are; others fill them silently. */
  readonly laneRefreshMs: number
  /** What a node keeps between its last promise to a worker and the end of its own row. */
  readonly renewMarginMs: number
  /** What the reaper adds to a lease before it calls the attempt lost. */
  readonly reapMarginMs: number
  /** How long workers may take to come back after the only node of a SQLite store restarted. */
  readonly restartGraceMs: number
  /** A worker enforces timeouts itself; this much later the server does. */
  readonly timeoutGraceMs: number
  /** Pending items beyond which new submissions are turned away. */
  readonly maxPending: number
  /** How long a request outlasts a store that does not answer. */
  readonly patienceMs: number
  readonly maxPollMs: number
  readonly keepMs: number
  /** Inputs and results larger than this are kept as blobs. */
  readonly inlineBytes: number
  /** How old a blob must be that no run refers to before it is deleted. */
  readonly orphanBlobMs: number
}

export const DEFAULT_CONFIG: NodeConfig = {
  name: 'node',
  leaseTtlMs: 10_000,
  heartbeatMs: 3_000,
  plainTtlMs: 20_000,
  nodeTtlMs: 30_000,
  nodeBeatMs: 3_000,
  steadyMs: 30_000,
  laneRefreshMs: 1_000,
  renewMarginMs: 2_000,
  reapMarginMs: 1_000,
  restartGraceMs: 60_000,
  timeoutGraceMs: 15_000,
  maxPending: 20_000,
  patienceMs: 10_000,
  maxPollMs: 20_000,
  keepMs: 90 * 86_400_000,
  inlineBytes: LIMITS.inlineBytes,
  orphanBlobMs: 86_400_000,
}
