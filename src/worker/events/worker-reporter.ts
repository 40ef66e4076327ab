/** What a worker tells the program it lives in. */
export interface Telling {
  error(error: unknown): void
  log(event: string, fields?: LogFields): void
}

export type LogFields = Readonly<Record<string, string | number>>

/** Wraps the user's callbacks, so that one that throws or rejects cannot break the worker. */
export function createTelling(options: {
  onError?: ((error: unknown) => unknown) | undefined
  log?: ((event: string, fields?: LogFields) => unknown) | undefined
}): Telling {
  const { onError, log } = options
  return {
    error: (error) => void shielded(() => onError?.(error)),
    log: (event, fields) => void shielded(() => log?.(event, fields)),
  }
}

async function shielded(call: () => unknown): Promise<void> {
  try {
    await call()
  } catch {
    // There is nobody left to tell.
  }
}
