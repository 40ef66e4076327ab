/** How long a workflow is left alone after the store refused it for an unknown reason. */
const BACKOFF_MS = 60_000
/** After this many refusals in a row the workflow is given up. */
const MAX_REFUSALS = 3
/** By now another node has advanced or ended it. */
const EXPIRY_MS = 10 * BACKOFF_MS

/**
 * Workflows whose transitions the store refuses: retried after a pause, and given up after several
 * refusals.
 */
export interface RefusedWorkflows {
  note(runId: number, error: Error): void
  isBackingOff(runId: number): boolean
  /** Why the workflow is to be given up, if it is. */
  problemOf(runId: number): string | undefined
  /** The workflow has advanced. */
  forget(runId: number): void
}

interface Refused {
  readonly untilMono: number
  readonly times: number
  readonly message: string
}

export function createRefusedWorkflows(mono: () => number): RefusedWorkflows {
  const refused = new Map<number, Refused>()
  return {
    note(runId, { message }) {
      for (const [old, { untilMono }] of refused) {
        if (mono() - untilMono > EXPIRY_MS) refused.delete(old)
      }
      const times = (refused.get(runId)?.times ?? 0) + 1
      refused.set(runId, { untilMono: mono() + BACKOFF_MS, times, message })
    },
    isBackingOff: (runId) => (refused.get(runId)?.untilMono ?? Number.NEGATIVE_INFINITY) > mono(),
    problemOf(runId) {
      const { times, message } = refused.get(runId) ?? { times: 0 }
      return times >= MAX_REFUSALS
        ? `what is to be done next cannot be stored: ${message}`
        : undefined
    },
    forget: (runId) => void refused.delete(runId),
  }
}
