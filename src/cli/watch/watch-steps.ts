import type { WireStep } from '../../core/workflow/step-views.ts'
import type { WhyCode, WirePage, WireWhy } from '../../core/wire/views.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import { beside } from '../terminal/hanging-indent.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { showStepState, tookOf, whyOf } from '../render/step-table.ts'
import { harmless, type Terminal } from '../terminal/terminal.ts'
import { cut } from '../terminal/text-width.ts'
import { whileWatching } from './watch-controls.ts'

const PERIOD_MS = 500
const ROUNDS_TO_WHY = 4
const SAID_BY_STEPS: ReadonlySet<WhyCode> = new Set([
  ...(['running', 'stopping', 'approval'] as const),
  ...(['succeeded', 'failed', 'cancelled', 'skipped'] as const),
])
/** A picture that is higher than its terminal could not be drawn over. */
const MOST_LINES = 18
const USUAL_WIDTH = 80
/** For the `^C` that a terminal writes itself. */
const SPARE = 4

/**
 * Shows the steps of a run until it has ended: for a person a picture that is drawn again and again,
 * where there is none a line for every change.
 */
export function watchSteps(
  id: string,
  { calls, terminal }: { calls: ServerCalls; terminal: Terminal },
): Promise<void> {
  return whileWatching(id, { calls, terminal }, async ({ signal, quiet, line }) => {
    line.end()
    const isPicture = terminal.isInteractive && terminal.env['TERM'] !== 'dumb'
    const show = isPicture ? createPicture(terminal) : createNews(terminal)
    let heldUp: WireWhy | null = null
    for (let round = 0; ; round += 1) {
      // The server holds the answer: the end is heard of at once.
      const path = `/v1/runs/${id}?wait=${round === 0 ? 0 : PERIOD_MS}ms`
      const { finished_at } = await calls.call<WireRun>('GET', path, undefined, { signal })
      const steps = await readSteps(id, calls, signal)
      if (finished_at !== null) heldUp = null
      else if (round % ROUNDS_TO_WHY === 0) heldUp = await whatHoldsItUp(id, calls, signal)
      await quiet()
      if (signal.aborted) return
      show(steps, heldUp)
      if (finished_at !== null) return
    }
  })
}

/** Null as long as something is being done, or a step says itself what it waits for. */
async function whatHoldsItUp(
  id: string,
  calls: ServerCalls,
  signal: AbortSignal,
): Promise<WireWhy | null> {
  const why = await calls.call<WireWhy>('GET', `/v1/runs/${id}/why`, undefined, { signal })
  return SAID_BY_STEPS.has(why.code) ? null : why
}

/** The first page: who has more steps than that sees how those go. */
async function readSteps(
  id: string,
  calls: ServerCalls,
  signal: AbortSignal,
): Promise<readonly WireStep[]> {
  const path = `/v1/runs/${id}/steps?limit=500`
  return (await calls.call<WirePage<WireStep>>('GET', path, undefined, { signal })).data
}

type Show = (steps: readonly WireStep[], heldUp: WireWhy | null) => void

/** What has changed since the last time, a line each. */
function createNews(terminal: Terminal): Show {
  const known = new Map<string, string>()
  let heldUpBy: WhyCode | undefined
  return (steps, heldUp) => {
    for (const step of steps) {
      const { name, state } = step
      if (state === 'untouched' || known.get(name) === state) continue
      known.set(name, state)
      terminal.err(`${lineOf(step, terminal)}\n`)
    }
    if (heldUp && heldUp.code !== heldUpBy) terminal.err(`${harmless(heldUp.sentence)}\n`)
    heldUpBy = heldUp?.code
  }
}

/** All of them, over what was there before. */
function createPicture(terminal: Terminal): Show {
  let height = 0
  return (steps, heldUp) => {
    const width = Math.min(terminal.columns, USUAL_WIDTH) - SPARE
    const lines = choose(steps).map((step) => cut(lineOf(step, terminal), width))
    const left = steps.length - lines.length
    if (left > 0) lines.push(cut(`  … and ${left} more: punctual steps`, width))
    if (heldUp) lines.push(...beside(terminal, '', harmless(heldUp.sentence)))
    const back = height === 0 ? '' : `\r\u001B[${height}A\u001B[J`
    terminal.err(`${back}${lines.join('\n')}\n`)
    height = lines.length
  }
}

/** All if there is room; otherwise what is going on, and what went wrong, before the rest. */
function choose(steps: readonly WireStep[]): readonly WireStep[] {
  if (steps.length <= MOST_LINES) return steps
  const isCalm = ({ state }: WireStep) => state === 'untouched' || state === 'succeeded'
  const lively = steps.filter((step) => !isCalm(step))
  return [...lively, ...steps.filter(isCalm)].slice(0, MOST_LINES)
}

function lineOf(step: WireStep, terminal: Terminal): string {
  const why = harmless(whyOf(step))
  const words = [showStepState(terminal, step.state), step.name, tookOf(step, terminal), why]
  return words.filter((word) => word !== '').join('  ')
}
