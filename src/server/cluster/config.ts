import { LIMITS } from '../../core/limits.ts'

/** Intervals and limits of a node. Tests shorten them; users rarely need to. */
export interface NodeConfig {
  readonly name: string
  /** A worker session that has been silent for this long loses its leases. */
  readonly leaseTtlMs: number
  readonly heartbeatMs: number
  /**
   * Lowest version of the worker protocol that is accepted: 2 refuses sessions without a secret.
   */
  readonly minWorkerProtocol: 1 | 2
  /**
   * The same for a worker that speaks the legacy protocol: every request of it counts as a
   * heartbeat.
   */
  readonly compatTtlMs: number
  /** Any other node may declare a node dead whose row was not renewed for this long. */
  readonly nodeTtlMs: number
  readonly nodeHeartbeatMs: number
  /** A node may judge others only after its own row was renewed without a gap for this long. */
  readonly steadyMs: number
  /** How often a node reads all lanes again: other nodes fill lanes without a notification. */
  readonly laneRefreshMs: number
  /**
   * Margin between the end of the last promise to a worker and the expiry of the node's own row.
   */
  readonly renewMarginMs: number
  /** Margin that the reaper adds to a lease before it counts the attempt as lost. */
  readonly reapMarginMs: number
  /** How long workers may take to return after the only node of a SQLite store restarted. */
  readonly restartGraceMs: number
  /** The worker enforces timeouts itself; the server steps in this much later. */
  readonly timeoutGraceMs: number
  /** The node refuses new submissions beyond this number of pending items. */
  readonly maxPending: number
  /** How long a request waits for a store that does not answer. */
  readonly storeTimeoutMs: number
  readonly maxPollMs: number
  /** Worker sessions that one token may have on this node: twice the largest supported fleet. */
  readonly maxSessionsPerToken: number
  readonly keepMs: number
  /** Inputs and results larger than this are stored as blobs. */
  readonly inlineBytes: number
  /** Minimum age of a blob that no run refers to before it is deleted. */
  readonly orphanBlobMs: number
}

export const DEFAULT_CONFIG: NodeConfig = {
  name: 'node',
  leaseTtlMs: 10_000,
  heartbeatMs: 3_000,
  minWorkerProtocol: 1,
  compatTtlMs: 20_000,
  nodeTtlMs: 30_000,
  nodeHeartbeatMs: 3_000,
  steadyMs: 30_000,
  laneRefreshMs: 1_000,
  renewMarginMs: 2_000,
  reapMarginMs: 1_000,
  restartGraceMs: 60_000,
  timeoutGraceMs: 15_000,
  maxPending: 20_000,
  storeTimeoutMs: 10_000,
  maxPollMs: 20_000,
  maxSessionsPerToken: 20_000,
  keepMs: 90 * 86_400_000,
  inlineBytes: LIMITS.inlineBytes,
  orphanBlobMs: 86_400_000,
}
