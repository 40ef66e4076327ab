import { CallError } from '../../../src/client/index.ts'
import { waitFor } from '../../support/wait-for.ts'

/** Far longer than anybody waits for a lease to end, or for a server to come back. */
export const STUCK_MS = 90_000

/** Calls until somebody answers: servers are killed here, and come back. `undefined` means refused. */
export async function insist<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
  const { answer } = await waitFor(
    async () => {
      try {
        return { answer: await call() }
      } catch (error) {
        if (error instanceof CallError && error.code === 'run_is_final')
          return { answer: undefined }
        throw error
      }
    },
    { what, deadlineMs: STUCK_MS, intervalMs: 100 },
  )
  return answer
}
