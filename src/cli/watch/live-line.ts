import type { WireWhy } from '../../core/wire/views.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, showState, type Terminal } from '../terminal/terminal.ts'
import { cut } from '../terminal/text-width.ts'

/** A line that is redrawn in place on an interactive terminal; on others there is none. */
export interface LiveLine {
  /** Hides the line while other output is on the screen. */
  whileHidden<T>(act: () => Promise<T>): Promise<T>
  /** Removes the line for good, before other output. */
  end(): void
}

const PERIOD_MS = 1_000
/** The width when only standard error is a terminal, whose width is unknown. */
const DEFAULT_WIDTH = 80
/** Columns for the `^C` that the terminal prints: a wrapped line could not be erased. */
const INTERRUPT_COLUMNS = 4
const START_OF_LINE = '\r\u001B[K'

/** Whether the terminal can redraw a line; otherwise plain lines are printed. */
export function hasLiveLine({ isInteractive, env }: Pick<Terminal, 'isInteractive' | 'env'>) {
  return isInteractive && env['TERM'] !== 'dumb'
}

/** Shows why a run is in its state, until the run prints something. */
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
      terminal.err(
        START_OF_LINE + cut(text, Math.min(terminal.columns, DEFAULT_WIDTH) - INTERRUPT_COLUMNS),
      )
      isShown = true
    }
  }
  if (hasLiveLine(terminal)) void draw()
  return {
    async whileHidden(act) {
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

/** The reported progress: `█████░░░░░ 50% half of it is done`. */
function barOf({ progress }: WireWhy): string | undefined {
  if (!progress) return undefined
  const { fraction, message } = progress
  const full = Math.floor(fraction * BAR_WIDTH)
  const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full)
  return `${bar} ${Math.floor(fraction * 100)}% ${harmless(message)}`.trimEnd()
}
