import { formatDuration } from '../../core/text/duration.ts'
import type { WireJobStep, WireStep } from '../../core/workflow/views/step-views.ts'
import type { ShownStepState } from '../../core/wire/workflow-view.ts'
import { drawGraph } from './draw-graph.ts'
import type { Column } from '../terminal/table.ts'
import { harmless, paint, showState, type Terminal } from '../terminal/terminal.ts'

/** Unusual properties of a step, shown after its name. */
function annotationsOf({ kind, when, each, finally: isFinally, also }: AnnotatedStep): string {
  const defaultCondition = isFinally ? 'always' : 'all-succeeded'
  const annotations = [
    ...(kind === 'approval' ? ['approval'] : []),
    ...(each ? ['each'] : []),
    ...(when === defaultCondition ? [] : [when]),
    ...(also.length === 0 ? [] : [`also after ${also.join(', ')}`]),
  ]
  return annotations.length === 0 ? '' : ` (${annotations.join('; ')})`
}

type AnnotatedStep = Pick<WireStep, 'kind' | 'when' | 'each' | 'finally'> & {
  readonly also: readonly string[]
}

export interface PlacedStep<Step> {
  readonly title: string
  readonly step: Step
}

export function placeSteps<Step extends WireStep | WireJobStep>(
  steps: readonly Step[],
): PlacedStep<Step>[] {
  return drawGraph(steps).map(({ branch, step, alsoNeeds: also }) => {
    const last = step.finally ? ' finally' : ''
    return { step, title: `${branch}${step.name}${last}${annotationsOf({ ...step, also })}` }
  })
}

const BAR_WIDTH = 16

/** The columns of the steps table: state, duration, position in time, and reason. */
export function stepColumns(
  terminal: Terminal,
  { from, until }: Span,
): Column<PlacedStep<WireStep>>[] {
  return [
    { title: 'STEP', show: ({ title }) => title, shrinks: true, minWidth: 28 },
    { title: 'STATE', show: ({ step }) => showStepState(terminal, step.state) },
    { title: 'TOOK', show: ({ step }) => tookOf(step, terminal) },
    { title: 'TRIES', show: ({ step }) => triesOf(step), hideIfEmpty: true },
    {
      title: 'WHEN',
      show: ({ step }) => paint(terminal, step.critical ? 'bold' : 'grey', bar(step, from, until)),
      dropOrder: 2,
    },
    { title: 'RUN', show: ({ step }) => runOf(step), dropOrder: 1 },
    {
      title: 'WHY',
      show: ({ step }) => harmless(whyOf(step)),
      shrinks: true,
      minWidth: 20,
      hideIfEmpty: true,
    },
  ]
}

export interface Span {
  readonly from: number
  readonly until: number
}

/** The known time span of a run. */
export function spanOf(steps: readonly WireStep[], now: number): Span {
  const starts = steps.flatMap(({ started_at }) => (started_at ? [Date.parse(started_at)] : []))
  const from = Math.min(now, ...starts)
  const isOver = steps.every(({ state, finished_at }) => finished_at ?? state === 'untouched')
  const ends = steps.flatMap(({ finished_at }) => (finished_at ? [Date.parse(finished_at)] : []))
  return { from, until: isOver ? Math.max(from, ...ends) : now }
}

function bar({ state, started_at, finished_at }: WireStep, from: number, until: number): string {
  if (started_at === null || state === 'skipped') return ''
  const scale = BAR_WIDTH / Math.max(1, until - from)
  const at = (time: number) => Math.round((time - from) * scale)
  const start = Math.min(BAR_WIDTH - 1, at(Date.parse(started_at)))
  const end = finished_at === null ? BAR_WIDTH : at(Date.parse(finished_at))
  return ' '.repeat(start) + '━'.repeat(Math.max(1, Math.min(BAR_WIDTH, end) - start))
}

const GLYPHS: Readonly<Partial<Record<ShownStepState, string>>> = { untouched: '·', waiting: '?' }

/**
 * Shows a step's state; steps have states that runs lack, such as not reached or waiting for an
 * approval.
 */
export function showStepState(terminal: Pick<Terminal, 'hasColour'>, state: ShownStepState) {
  const glyph = GLYPHS[state]
  if (glyph === undefined) return showState(terminal, state)
  return paint(terminal, state === 'waiting' ? 'yellow' : 'grey', `${glyph} ${state}`)
}

export function tookOf(
  { started_at, finished_at, state }: Pick<WireStep, 'started_at' | 'finished_at' | 'state'>,
  { now }: Pick<Terminal, 'now'>,
): string {
  if (started_at === null || state === 'skipped') return ''
  const until = finished_at === null ? now() : Date.parse(finished_at)
  return formatDuration(Math.max(0, until - Date.parse(started_at)))
}

/** The number of attempts, if more than one. */
export function triesOf({ run }: Pick<WireStep, 'run'>): string {
  return run && run.attempt > 1 ? String(run.attempt) : ''
}

function runOf({ run, items, reused }: WireStep): string {
  if (items) return `${items.counts.total} items`
  return run === null ? '' : `${run.id}${reused ? ' (kept)' : ''}`
}

export function whyOf({ sentence, run, state }: WireStep): string {
  if (sentence !== null) return sentence
  if (state === 'failed') return run?.message ?? ''
  return run && state === 'running' && run.state !== 'running' ? `its run is ${run.state}` : ''
}
