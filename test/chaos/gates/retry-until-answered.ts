import { CallError } from '../../../src/client/index.ts'
import { waitFor } from '../../support/wait-for.ts'

/** Far longer than a lease or the restart of a server takes. */
export const RETRY_DEADLINE_MS = 90_000

/**
 * Repeats the call until a server answers: servers are killed and come back. `undefined` means that the run had
 * ended.
 */
export async function retryUntilAnswered<T>(
  what: string,
  call: () => Promise<T>,
): Promise<T | undefined> {
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
    { what, deadlineMs: RETRY_DEADLINE_MS, intervalMs: 100 },
  )
  return answer
}
