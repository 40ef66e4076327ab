/**
 * Exit codes. `exec` returns its child's own code instead, and 125 for failures of this program.
 */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  runFailed: 3,
  runCancelled: 4,
  waitTimedOut: 5,
  notFound: 6,
  forbidden: 7,
  unreachable: 8,
  conflict: 9,
  /** `plan --exit-code` found changes. */
  changes: 10,
  /** `import` could not import everything. */
  partial: 11,
  /** As in sysexits.h: a setting is wrong, and nothing was started. */
  config: 78,
  execFailed: 125,
  interrupted: 130,
} as const

/** The exit code for an HTTP status. */
export function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return EXIT.forbidden
  if (status === 404) return EXIT.notFound
  if (status === 409 || status === 412) return EXIT.conflict
  if (status === 400 || status === 413 || status === 415 || status === 422) return EXIT.usage
  return status === 503 || status === 0 ? EXIT.unreachable : EXIT.unexpected
}

export function exitCodeOfState(state: string): number {
  if (state === 'succeeded') return EXIT.ok
  return state === 'cancelled' ? EXIT.runCancelled : EXIT.runFailed
}
