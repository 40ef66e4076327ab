/** How long a flow that the store refuses, nobody knows why, is left alone. */
const LEFT_ALONE_MS = 60_000
/** So many times in a row, and it will be refused for ever. */
const MOST = 3
/** Somebody else has gone on with it, or ended it. */
const FORGOTTEN_MS = 10 * LEFT_ALONE_MS

/** Flows whose moves the store refuses: left alone for a while, and given up after some times. */
export interface Refusals {
  note(runId: number, error: Error): void
  isLeftAlone(runId: number): boolean
  /** Why it is to be given up, if it is. */
  problemOf(runId: number): string | undefined
  /** It has gone on. */
  forget(runId: number): void
}

interface Refused {
  readonly until: number
  readonly times: number
  readonly message: string
}

export function createRefusals(now: () => number): Refusals {
  const refused = new Map<number, Refused>()
  return {
    note(runId, { message }) {
      for (const [old, { until }] of refused) {
        if (now() - until > FORGOTTEN_MS) refused.delete(old)
      }
      const times = (refused.get(runId)?.times ?? 0) + 1
      refused.set(runId, { until: now() + LEFT_ALONE_MS, times, message })
    },
    isLeftAlone: (runId) => (refused.get(runId)?.until ?? 0) > now(),
    problemOf(runId) {
      const { times, message } = refused.get(runId) ?? { times: 0 }
      return times >= MOST ? `what is to be done next cannot be stored: ${message}` : undefined
    },
    forget: (runId) => void refused.delete(runId),
  }
}
