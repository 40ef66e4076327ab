import type { Clock } from '../../core/clock.ts'

export type Sent<T> =
  | { readonly kind: 'answered'; readonly answer: T }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The signal aborted first. A later answer is dropped. */
  | { readonly kind: 'abandoned' }

/**
 * Sends one request that always ends: with its answer, its failure, the time limit or the signal.
 */
export function sendRequest<T>(
  call: (signal: AbortSignal) => Promise<T>,
  { clock, limitMs, signal }: { clock: Clock; limitMs: number; signal: AbortSignal },
): Promise<Sent<T>> {
  return new Promise((resolve) => {
    const request = new AbortController()
    let isOver = false
    const end = (sent: Sent<T>) => {
      if (isOver) return
      isOver = true
      signal.removeEventListener('abort', abandon)
      resolve(sent)
      // With a reason: without one, `abort` creates an exception with its stack. The answer is
      // handled before its timer is cleared, so that the assigned runs can start meanwhile.
      if (sent.kind === 'answered') setImmediate(() => request.abort('finished'))
      else request.abort('finished')
    }
    const abandon = () => end({ kind: 'abandoned' })
    if (signal.aborted) return abandon()
    signal.addEventListener('abort', abandon)

    const perform = async () => {
      try {
        end({ kind: 'answered', answer: await call(request.signal) })
      } catch (error) {
        end({ kind: 'failed', error })
      }
    }
    const limit = async () => {
      await clock.sleep(limitMs, request.signal)
      if (isOver) return
      end({ kind: 'failed', error: new Error(`no answer within ${limitMs} ms`) })
    }
    void perform()
    void limit()
  })
}
