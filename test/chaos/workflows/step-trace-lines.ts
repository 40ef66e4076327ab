import type { TraceLine } from '../gates/trace-log.ts'

/** A line that the process of an attempt wrote about itself, with its workflow step if it has one. */
export interface StepTraceLine {
  readonly what: TraceLine['what']
  readonly run: string
  readonly attempt: number
  /** Null for a run that is not a step. */
  readonly place: { readonly workflow: string; readonly step: number; readonly item: number } | null
}

const WHOLE = -1

export function readStepLine({ what, run, attempt, keys }: TraceLine): StepTraceLine {
  const [workflow = '-', step, item = '-'] = keys
  if (workflow === '-') return { what, run, attempt, place: null }
  return { what, run, attempt, place: { workflow, step: Number(step), item: numberOf(item) } }
}

function numberOf(item: string): number {
  return item === '-' ? WHOLE : Number(item)
}

/** By run: the index of the last line in which one of its processes recorded its end. */
export function lastEnds(lines: readonly StepTraceLine[]): ReadonlyMap<string, number> {
  return new Map(lines.flatMap(({ what, run }, at) => (what === 'end' ? [[run, at]] : [])))
}

/** Runs of steps that have begun and have no later line. */
export function running(lines: readonly StepTraceLine[]): StepTraceLine[] {
  const latest = new Map<string, StepTraceLine>()
  for (const line of lines) latest.set(line.run, line)
  return [...latest.values()].filter(({ what, place }) => what === 'begin' && place !== null)
}
