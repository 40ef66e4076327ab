import type { WireWhy } from '../../core/wire/views.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, showState, type Terminal } from '../terminal/terminal.ts'
import { cut } from '../terminal/text-width.ts'

/** A line that is written over again and again, where a person watches. Elsewhere there is none. */
export interface LiveLine {
  /** Takes it away while something else is on the screen; it comes back. */
  whileAway<T>(act: () => Promise<T>): Promise<T>
  /** Takes it away for good: something else is written now. */
  end(): void
}

const PERIOD_MS = 1_000
/** Wider ones have room to spare, and where only standard error is a terminal nothing is known. */
const USUAL_WIDTH = 80
/** For the `^C` that a terminal writes itself: on a second line it could not be erased. */
const SPARE = 4
const START_OF_LINE = '\r\u001B[K'

/** Says why a run is where it is, for as long as it says nothing itself. */
export function showLiveLine(
  id: string,
  { calls, terminal }: { calls: ServerCalls; terminal: Terminal },
): LiveLine {
  const ended = new AbortController()
  const { signal } = ended
  let isShown = false
  let isAway = false
  const erase = () => {
    if (isShown) terminal.err(START_OF_LINE)
    isShown = false
  }
  const draw = async () => {
    for (;;) {
      await terminal.sleep(PERIOD_MS, signal)
      if (signal.aborted) return
      const path = `/v1/runs/${id}/why`
      const why = await calls.call<WireWhy>('GET', path, undefined, { signal }).catch(() => null)
      if (why === null || isAway || ended.signal.aborted) continue
      const text = `${showState(terminal, why.state)}  ${barOf(why) ?? harmless(why.sentence)}`
      terminal.err(START_OF_LINE + cut(text, Math.min(terminal.columns, USUAL_WIDTH) - SPARE))
      isShown = true
    }
  }
  if (terminal.isInteractive && terminal.env['TERM'] !== 'dumb') void draw()
  return {
    async whileAway(act) {
      isAway = true
      erase()
      try {
        return await act()
      } finally {
        isAway = false
      }
    },
    end() {
      ended.abort()
      erase()
    },
  }
}

const BAR_WIDTH = 20

/** How far it says it is: `█████░░░░░ 50% half of it is done`. */
function barOf({ progress }: WireWhy): string | undefined {
  if (!progress) return undefined
  const { fraction, message } = progress
  const full = Math.floor(fraction * BAR_WIDTH)
  const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full)
  return `${bar} ${Math.floor(fraction * 100)}% ${harmless(message)}`.trimEnd()
}
