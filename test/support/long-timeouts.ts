/**
 * For servers on real time: workers that are played by hand send no heartbeats, and a busy machine
 * takes its time. Who tests what happens to a silent worker sets shorter times itself.
 */
export const PATIENT = {
  leaseTtlMs: 600_000,
  // Not the same: that is how a node tells workers of the plain protocol from the others.
  plainTtlMs: 300_000,
  nodeTtlMs: 1_800_000,
} as const
