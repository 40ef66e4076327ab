/**
 * The product's own times, shortened until a test can wait for them. A worker may run for
 * 0.95 × lease − 1 s after its last heartbeat, so the lease has to leave room for a few of those; and
 * a node promises nothing in the last lease and margin of its row, so the row has to outlive both.
 */
export const SHORT_TIMES = {
  leaseTtlMs: 2_500,
  heartbeatMs: 400,
  nodeTtlMs: 5_000,
  nodeBeatMs: 500,
  steadyMs: 5_000,
  renewMarginMs: 500,
  reapMarginMs: 300,
  restartGraceMs: 4_000,
  laneRefreshMs: 500,
  maxPollMs: 5_000,
} as const
