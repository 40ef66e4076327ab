/** What the shell learns. `exec` gives its child's own code instead, and 125 for our failures. */
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
  /** `plan --exit-code` found something to change. */
  changes: 10,
  /** As sysexits.h has it: a setting is wrong, and nothing was started. */
  config: 78,
  execFailed: 125,
  interrupted: 130,
} as const

/** The code for a problem the server, or the way to it, has answered with. */
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
