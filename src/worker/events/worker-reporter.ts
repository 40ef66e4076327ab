/** Reports errors and events to the program that contains the worker. */
export interface WorkerReporter {
  error(error: unknown): void
  log(event: string, fields?: ReporterFields): void
}

export type ReporterFields = Readonly<Record<string, string | number>>

/** Wraps the user's callbacks, so that one that throws or rejects cannot break the worker. */
export function createWorkerReporter(options: {
  onError?: ((error: unknown) => unknown) | undefined
  log?: ((event: string, fields?: ReporterFields) => unknown) | undefined
}): WorkerReporter {
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
    // The error handler itself failed.
  }
}
