import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { type LiveLine, showLiveLine } from './live-line.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createWaitReport, type WaitReport } from './wait-report.ts'

/** The controls of a watched run. */
export interface WatchControls {
  /** Aborts when the user detaches from the run. */
  readonly signal: AbortSignal
  /** Resolves when no question is open: other output would run into it. */
  whenNoQuestion(): Promise<void>
  /** The live line, shown until there is output. */
  readonly line: LiveLine
  /** The lines written where there is no live line. */
  readonly report: WaitReport
}

/**
 * Watches a run. Ctrl-C asks whether to detach or to cancel the run; without an interactive
 * terminal it detaches.
 */
export async function withWatchControls<T>(
  id: string,
  { calls, terminal }: { calls: ServerCalls; terminal: Terminal },
  watch: (watching: WatchControls) => Promise<T>,
): Promise<T> {
  const detached = new AbortController()
  const line = showLiveLine(id, { calls, terminal })
  let question: Promise<unknown> = Promise.resolve()
  const quiet = async () => void (await question)
  const { signal } = detached
  const report = createWaitReport(id, { calls, terminal, signal })
  const watched = watch({ signal, whenNoQuestion: quiet, line, report }).then((value) => ({
    value,
  }))
  try {
    for (;;) {
      const end = await Promise.race([watched, terminal.nextInterrupt()])
      if (end) return end.value
      const answer = line.whileHidden(() => askWhatToDo(terminal))
      question = answer
      const key = await answer
      if (key === 'c') {
        // The run may have ended meanwhile; the watch is about to report that.
        await calls.call('POST', `/v1/runs/${id}/cancel`).catch(() => {})
        line.end()
        terminal.err('stopping …\n')
      } else if (key === 'd') {
        // The result is not needed any more, so its errors are ignored.
        watched.catch(() => {})
        detached.abort()
        throw detach(id)
      }
    }
  } finally {
    line.end()
  }
}

function detach(id: string): Failure {
  return new Failure(`${id} continues in the background`, {
    exitCode: EXIT.interrupted,
    next: `punctual logs -f ${id}`,
  })
}

async function askWhatToDo(terminal: Terminal): Promise<string> {
  if (!terminal.isInteractive) return 'd'
  const key = await terminal.askKey(
    '\n[d] detach, the run continues   [c] cancel it   [Enter] keep watching ',
  )
  // A second Ctrl-C is an answer, too.
  return key === '\u0003' ? 'd' : key.toLowerCase()
}
