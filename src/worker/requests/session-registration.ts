import type { SessionKey } from '../../core/wire/protocol.ts'

/**
 * One registration of the session, from the server's answer until it ends. Exchanges are numbered
 * within it.
 */
export interface SessionRegistration {
  readonly key: SessionKey
  readonly registration: number
  readonly leaseTtlMs: number
  readonly heartbeatMs: number
  /** Aborts when the registration ends. */
  readonly signal: AbortSignal
  /** The last exchange whose answer was applied. */
  answered: number
  /** Ends the registration; the worker registers again unless it is stopping. */
  end(why: string): void
}

export function createSessionRegistration(
  welcome: Pick<SessionRegistration, 'key' | 'registration' | 'leaseTtlMs' | 'heartbeatMs'>,
  onEnd: (why: string) => void,
): SessionRegistration {
  const ended = new AbortController()
  return {
    ...welcome,
    signal: ended.signal,
    answered: 0,
    end(why) {
      if (ended.signal.aborted) return
      ended.abort()
      onEnd(why)
    },
  }
}
