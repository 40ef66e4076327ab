/**
 * For servers on real time: workers that a test plays by hand send no heartbeats, and a busy machine is slow. A
 * test of a silent worker sets shorter times itself.
 */
export const LONG_TIMEOUTS = {
  leaseTtlMs: 600_000,
  // Must differ from the lease: that is how a node tells compat workers from the others.
  compatTtlMs: 300_000,
  nodeTtlMs: 1_800_000,
} as const
