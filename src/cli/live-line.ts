import type { WireWhy } from '../core/views.ts'
import type { ServerCalls } from './server-calls.ts'
import { harmless, showState, type Terminal } from './terminal.ts'
import { cut } from './text-width.ts'
import type { Watching } from './watching.ts'

/** A line that is written over again and again, where a person watches. Elsewhere there is none. */
export interface LiveLine {
  /** Takes it away for good: something else is written now. */
  end(): void
}

const PERIOD_MS = 1_000
/** Wider ones have room to spare, and where only standard error is a terminal nothing is known. */
const USUAL_WIDTH = 80
const START_OF_LINE = '\r\u001B[K'

/** Says why a run is where it is, for as long as it says nothing itself. */
export function showLiveLine(
  id: string,
  { calls, terminal, watching }: { calls: ServerCalls; terminal: Terminal; watching: Watching },
): LiveLine {
  const ended = new AbortController()
  let isShown = false
  const erase = () => {
    if (isShown) terminal.err(START_OF_LINE)
    isShown = false
  }
  const draw = async () => {
    const { signal } = ended
    for (;;) {
      await terminal.sleep(PERIOD_MS, signal)
      if (signal.aborted || watching.signal.aborted) return
      const path = `/v1/runs/${id}/why`
      const why = await calls.call<WireWhy>('GET', path, undefined, { signal }).catch(() => null)
      await watching.quiet()
      if (why === null || ended.signal.aborted) continue
      const text = `${showState(terminal, why.state)}  ${harmless(why.sentence)}`
      // One column less: some terminals move on to the next line after the last.
      terminal.err(START_OF_LINE + cut(text, Math.min(terminal.columns, USUAL_WIDTH) - 1))
      isShown = true
    }
  }
  if (terminal.isInteractive && terminal.env['TERM'] !== 'dumb') void draw()
  return {
    end() {
      ended.abort()
      erase()
    },
  }
}
