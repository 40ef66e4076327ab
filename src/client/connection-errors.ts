/** Codes of name resolution and of undici, and of a refused connection to several addresses of a name. */
const NOT_CONNECTED = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED'])

/** Whether there was no connection, so that no byte of the request can have been sent. */
export function isNotConnected(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException
  if (syscall === 'connect' || (code !== undefined && NOT_CONNECTED.has(code))) return true
  return error instanceof AggregateError && error.errors.every(isNotConnected)
}

/** The error with a code: `fetch` wraps it once or twice. */
export function connectionErrorIn(error: unknown): NodeJS.ErrnoException | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? error : connectionErrorIn(error.cause)
}
