/**
 * The default times, shortened for tests. A worker may run for 0.95 × lease − 1 s after its last heartbeat, so
 * a lease must leave room for several heartbeats. A node promises nothing in the last lease and margin of its
 * row, so the row must outlive both.
 */
export const SHORT_TIMES = {
  leaseTtlMs: 2_500,
  heartbeatMs: 400,
  nodeTtlMs: 5_000,
  nodeHeartbeatMs: 500,
  steadyMs: 5_000,
  renewMarginMs: 500,
  reapMarginMs: 300,
  restartGraceMs: 4_000,
  laneRefreshMs: 500,
  maxPollMs: 5_000,
} as const
