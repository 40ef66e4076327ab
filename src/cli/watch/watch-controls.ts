import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { type LiveLine, showLiveLine } from './live-line.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What somebody who watches a run has to heed. */
export interface Watching {
  /** The run was let go. */
  readonly signal: AbortSignal
  /** Resolves when no question is open: what is written meanwhile would run into it. */
  quiet(): Promise<void>
  /** What stands on the screen until there is something better. */
  readonly line: LiveLine
}

/**
 * Watches a run. Ctrl-C asks whether to let it go or to stop it; where there is nobody to ask, it is
 * let go.
 */
export async function whileWatching<T>(
  id: string,
  { calls, terminal }: { calls: ServerCalls; terminal: Terminal },
  watch: (watching: Watching) => Promise<T>,
): Promise<T> {
  const detached = new AbortController()
  const line = showLiveLine(id, { calls, terminal })
  let question: Promise<unknown> = Promise.resolve()
  const quiet = async () => void (await question)
  const watched = watch({ signal: detached.signal, quiet, line }).then((value) => ({ value }))
  try {
    for (;;) {
      const end = await Promise.race([watched, terminal.nextInterrupt()])
      if (end) return end.value
      const answer = line.whileAway(() => askWhatToDo(terminal))
      question = answer
      const key = await answer
      if (key === 'c') {
        // It may have ended while we asked; how, we are about to hear.
        await calls.call('POST', `/v1/runs/${id}/cancel`).catch(() => {})
        line.end()
        terminal.err('told to stop …\n')
      } else if (key === 'd') {
        // Nobody waits for it any more, so nobody may stumble over how it ends.
        watched.catch(() => {})
        detached.abort()
        throw letGo(id)
      }
    }
  } finally {
    line.end()
  }
}

function letGo(id: string): Failure {
  return new Failure(`${id} goes on without you`, {
    exitCode: EXIT.interrupted,
    next: `punctual logs -f ${id}`,
  })
}

async function askWhatToDo(terminal: Terminal): Promise<string> {
  if (!terminal.isInteractive) return 'd'
  const key = await terminal.askKey(
    '\n[d] detach, it goes on   [c] cancel it   [Enter] keep watching ',
  )
  // A second Ctrl-C is an answer too.
  return key === '\u0003' ? 'd' : key.toLowerCase()
}
