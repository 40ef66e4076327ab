import type { WireStep } from '../../core/workflow/views/step-views.ts'
import type { WhyCode, WirePage, WireWhy } from '../../core/wire/views.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import { hangingIndent } from '../terminal/hanging-indent.ts'
import { hasLiveLine } from './live-line.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { showStepState, tookOf, triesOf, whyOf } from '../render/step-table.ts'
import { harmless, type Terminal } from '../terminal/terminal.ts'
import { cut } from '../terminal/text-width.ts'
import type { WaitReport } from './wait-report.ts'
import { withWatchControls } from './watch-controls.ts'

const PERIOD_MS = 500
const ROUNDS_TO_WHY = 4
const SHOWN_BY_STEPS: ReadonlySet<WhyCode> = new Set([
  'running',
  'stopping',
  'approval',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
])
/** A view with more lines than the terminal could not be redrawn. */
const MOST_LINES = 18
const DEFAULT_WIDTH = 80
/** Columns for the `^C` that the terminal prints. */
const INTERRUPT_COLUMNS = 4

/**
 * Shows the steps of a run until it has ended: on a terminal as a redrawn view, elsewhere as one
 * line per change.
 */
export function watchSteps(
  id: string,
  { calls, terminal }: { calls: ServerCalls; terminal: Terminal },
): Promise<void> {
  return withWatchControls(
    id,
    { calls, terminal },
    async ({ signal, whenNoQuestion: quiet, line, report }) => {
      line.end()
      const isPicture = hasLiveLine(terminal)
      const show = isPicture ? createStepView(terminal) : createChangeReporter(terminal, report)
      let blocker: WireWhy | null = null
      for (let round = 0; ; round += 1) {
        // The server holds the answer, so that the end is noticed at once.
        const path = `/v1/runs/${id}?wait=${round === 0 ? 0 : PERIOD_MS}ms`
        const run = await calls.call<WireRun>('GET', path, undefined, { signal })
        const { finished_at } = run
        const steps = await readSteps(id, calls, signal)
        if (finished_at !== null) blocker = null
        else if (round % ROUNDS_TO_WHY === 0) blocker = await findBlocker(id, calls, signal)
        await quiet()
        if (signal.aborted) return
        show(steps, blocker)
        if (finished_at !== null) return
        await report.remind(run)
      }
    },
  )
}

/** Why the workflow waits; null while a step is active, or the list of steps already shows the reason. */
async function findBlocker(
  id: string,
  calls: ServerCalls,
  signal: AbortSignal,
): Promise<WireWhy | null> {
  const why = await calls.call<WireWhy>('GET', `/v1/runs/${id}/why`, undefined, { signal })
  return SHOWN_BY_STEPS.has(why.code) ? null : why
}

/** Reads only the first page; the view is not meant for longer workflows. */
async function readSteps(
  id: string,
  calls: ServerCalls,
  signal: AbortSignal,
): Promise<readonly WireStep[]> {
  const path = `/v1/runs/${id}/steps?limit=500`
  return (await calls.call<WirePage<WireStep>>('GET', path, undefined, { signal })).data
}

type Show = (steps: readonly WireStep[], blocker: WireWhy | null) => void

/** Prints one line per changed step. */
function createChangeReporter(terminal: Terminal, report: WaitReport): Show {
  const known = new Map<string, string>()
  let reportedCode: WhyCode | undefined
  const write = (text: string) => {
    terminal.err(`${text}\n`)
    report.noteOutput()
  }
  return (steps, blocker) => {
    for (const step of steps) {
      const { name, state } = step
      const summary = `${state} ${triesOf(step)}`
      if (state === 'untouched' || known.get(name) === summary) continue
      known.set(name, summary)
      write(lineOf(step, terminal))
    }
    if (blocker && blocker.code !== reportedCode) write(harmless(blocker.sentence))
    reportedCode = blocker?.code
  }
}

/** Redraws all steps in place. */
function createStepView(terminal: Terminal): Show {
  let height = 0
  return (steps, blocker) => {
    const width = Math.min(terminal.columns, DEFAULT_WIDTH) - INTERRUPT_COLUMNS
    const lines = choose(steps).map((step) => cut(lineOf(step, terminal), width))
    const left = steps.length - lines.length
    if (left > 0) lines.push(cut(`  … and ${left} more: punctual steps`, width))
    if (blocker) lines.push(...hangingIndent(terminal, '', harmless(blocker.sentence)))
    const back = height === 0 ? '' : `\r\u001B[${height}A\u001B[J`
    terminal.err(`${back}${lines.join('\n')}\n`)
    height = lines.length
  }
}

/** All steps if they fit; otherwise running and failed ones first. */
function choose(steps: readonly WireStep[]): readonly WireStep[] {
  if (steps.length <= MOST_LINES) return steps
  const isQuiet = ({ state }: WireStep) => state === 'untouched' || state === 'succeeded'
  const prominent = steps.filter((step) => !isQuiet(step))
  return [...prominent, ...steps.filter(isQuiet)].slice(0, MOST_LINES)
}

function lineOf(step: WireStep, terminal: Terminal): string {
  const why = harmless(whyOf(step))
  const tries = triesOf(step)
  const attempt = tries && `attempt ${tries}`
  const state = showStepState(terminal, step.state)
  const words = [state, step.name, tookOf(step, terminal), attempt, why]
  return words.filter((word) => word !== '').join('  ')
}
