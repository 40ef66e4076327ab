import { isUtf8 } from 'node:buffer'
import { LIMITS } from '../../core/limits.ts'
import { formatSize } from '../../core/text/size.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** After this time without the end of input, a notice says what the command waits for. */
const PATIENCE_MS = 2_000

/**
 * Reads standard input as text for the command of a run; undefined if it is a terminal, closed or
 * empty. It is read to its end before the run is submitted, because a retried attempt needs all of
 * it again.
 */
export async function inputForCommand(terminal: Terminal): Promise<string | undefined> {
  const most = LIMITS.forwardedBytes
  const reading = terminal.readInput(most)
  if (reading === undefined) return undefined
  const bytes = await withWaitingNotice(terminal, reading)
  if (bytes.length > most) {
    throw refused(`standard input is more than ${formatSize(most)}`, {
      hint: 'Put large data where the worker can read it, and give the command its path or URL.',
    })
  }
  if (!isUtf8(bytes) || bytes.includes(0)) {
    throw refused('standard input is not text in UTF-8', {
      hint: "Encode it, such as: base64 FILE | punctual exec -- sh -c 'base64 -d | COMMAND'",
    })
  }
  return bytes.length === 0 ? undefined : Buffer.from(bytes).toString('utf8')
}

/**
 * Prints a notice when the input does not end: a pipe that its writer keeps open would look like a
 * hanging command.
 */
async function withWaitingNotice<T>(terminal: Terminal, reading: Promise<T>): Promise<T> {
  const answered = new AbortController()
  void terminal.sleep(PATIENCE_MS, answered.signal).then(() => {
    if (answered.signal.aborted) return
    terminal.err('reading standard input to its end; --no-stdin skips it\n')
  })
  try {
    return await reading
  } finally {
    answered.abort()
  }
}

function refused(message: string, { hint }: { hint: string }): Failure {
  return new Failure(message, { exitCode: EXIT.usage, hint })
}
