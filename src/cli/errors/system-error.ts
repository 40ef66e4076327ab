/** The message for an error of the operating system, with a hint. */
export interface SystemErrorText {
  readonly message: string
  readonly hint: string
}

const SAYINGS: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  EACCES: ['permission denied', 'Look at its owner and mode, or run this as another user: ls -ld'],
  EPERM: ['not permitted', 'Look at its owner and mode, or run this as another user: ls -ld'],
  EROFS: ['the file system is read-only', 'Choose a place that can be written to.'],
  ENOENT: ['there is no such file or directory', 'Check the path, and the directories above it.'],
  ENOTDIR: ['a part of the path is not a directory', 'Check the path.'],
  EISDIR: ['it is a directory', 'Name a file.'],
  EEXIST: ['it exists already', 'Choose another name, or remove it.'],
  ENOSPC: ['the disk is full', 'Free some space there, and try again.'],
  EMFILE: ['too many files are open', 'Raise the limit: ulimit -n'],
  ECONNREFUSED: ['nothing listens there', 'Check the address, and that the server runs.'],
  ECONNRESET: ['the other side hung up', 'Check the address, and the log of the server.'],
  ETIMEDOUT: ['no answer came', 'Check the address, and the network in between.'],
  EHOSTUNREACH: ['no way leads there', 'Check the address, and the network.'],
  ENETUNREACH: ['no way leads there', 'Check the address, and the network.'],
  ENOTFOUND: ['the name is unknown', 'Check the name of the host.'],
  EAI_AGAIN: ['the name could not be looked up', 'Check the name of the host, and the network.'],
}

/** Undefined for errors that are not from the operating system. */
export function explainSystemError(error: unknown): SystemErrorText | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, path } = error as NodeJS.ErrnoException
  const saying = code === undefined ? undefined : SAYINGS[code]
  if (!saying) return undefined
  const [what, advice] = saying
  const where = path ?? addressOf(error)
  const message = where === undefined ? error.message || what : `${where}: ${what}`
  const hint = advice.endsWith('-ld') ? `${advice} ${path ?? '.'}` : advice
  return { message: message.includes(code as string) ? message : `${message} (${code})`, hint }
}

/** The address that could not be reached; a name with several addresses causes several errors. */
function addressOf(error: Error): string | undefined {
  const tries = error instanceof AggregateError ? (error.errors as object[]) : [error]
  const places = tries.flatMap((one) => {
    const { address, port, hostname } = one as Readonly<Record<string, unknown>>
    if (typeof address === 'string') return [`${address}:${String(port)}`]
    return typeof hostname === 'string' ? [hostname] : []
  })
  return places.length === 0 ? undefined : places.join(', ')
}
