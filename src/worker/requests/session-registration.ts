/** One registration: from its welcome until something ends it. Exchanges are numbered within it. */
export interface Session {
  readonly id: string
  readonly registration: number
  readonly leaseTtlMs: number
  readonly heartbeatMs: number
  /** Aborts when the registration is over. */
  readonly signal: AbortSignal
  /** The last exchange whose answer was taken in. */
  answered: number
  /** Ends the registration; the worker registers again unless it is stopping. */
  end(why: string): void
}

export function createSession(
  welcome: Pick<Session, 'id' | 'registration' | 'leaseTtlMs' | 'heartbeatMs'>,
  onEnd: (why: string) => void,
): Session {
  const over = new AbortController()
  return {
    ...welcome,
    signal: over.signal,
    answered: 0,
    end(why) {
      if (over.signal.aborted) return
      over.abort()
      onEnd(why)
    },
  }
}
