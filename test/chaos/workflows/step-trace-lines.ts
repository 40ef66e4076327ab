import type { Line } from '../gates/trace-log.ts'

/** What the process of an attempt wrote about itself: of which step of which flow it is, if of any. */
export interface ToldLine {
  readonly what: Line['what']
  readonly run: string
  readonly attempt: number
  /** Null for a run that is no step. */
  readonly place: { readonly flow: string; readonly step: number; readonly item: number } | null
}

const WHOLE = -1

export function readLine({ what, run, attempt, keys }: Line): ToldLine {
  const [flow = '-', step, item = '-'] = keys
  if (flow === '-') return { what, run, attempt, place: null }
  return { what, run, attempt, place: { flow, step: Number(step), item: numberOf(item) } }
}

function numberOf(item: string): number {
  return item === '-' ? WHOLE : Number(item)
}

/** By run: the place of the last line in which a process of it said that it ended. */
export function lastEnds(lines: readonly ToldLine[]): ReadonlyMap<string, number> {
  return new Map(lines.flatMap(({ what, run }, at) => (what === 'end' ? [[run, at]] : [])))
}

/** Runs of steps that have begun and were not heard of since. */
export function underWay(lines: readonly ToldLine[]): ToldLine[] {
  const latest = new Map<string, ToldLine>()
  for (const line of lines) latest.set(line.run, line)
  return [...latest.values()].filter(({ what, place }) => what === 'begin' && place !== null)
}
