import type { WirePlannedStep } from '../../core/workflow/step-views.ts'

/** One line of a picture of steps: the branches it hangs on, the step, and what else it needs. */
export interface GraphLine<Step> {
  readonly branch: string
  readonly step: Step
  /** What it needs besides the step it hangs on. */
  readonly also: readonly string[]
}

/** A long chain would lead out of any terminal: from here on it goes straight down. */
const DEEPEST = 60

/**
 * Steps as a tree in text: each hangs on the last of those it needs, and names the others. What is
 * `finally` comes last and hangs on nothing, unless it says so.
 */
export function drawGraph<Step extends WirePlannedStep>(steps: readonly Step[]): GraphLine<Step>[] {
  const places = new Map(steps.map(({ name }, index) => [name, index]))
  const children = new Map<string | null, Step[]>()
  const parents = new Map<Step, string | null>()
  for (const step of steps) {
    const known = step.needs.filter((name) => places.has(name))
    const parent = known.toSorted((a, b) => Number(places.get(b)) - Number(places.get(a)))[0]
    parents.set(step, parent ?? null)
    const siblings = children.get(parent ?? null)
    if (siblings) siblings.push(step)
    else children.set(parent ?? null, [step])
  }
  const lines: GraphLine<Step>[] = []
  // A chain may have 100,000 steps: no call for each of them.
  const open = [childrenOf(null, '', true)]
  while (open.length > 0) {
    const level = open.at(-1) as Level<Step>
    const step = level.steps[level.next]
    if (!step) {
      open.pop()
      continue
    }
    level.next += 1
    const isLast = level.next === level.steps.length
    const branch = level.isTop ? '' : `${level.margin}${isLast ? '└─ ' : '├─ '}`
    lines.push({ branch, step, also: step.needs.filter((name) => name !== parents.get(step)) })
    const isDeepest = level.margin.length >= DEEPEST
    const further = isDeepest ? '' : isLast ? '   ' : '│  '
    const margin = level.isTop ? '' : `${level.margin}${further}`
    open.push(childrenOf(step.name, margin, false))
  }
  return lines

  function childrenOf(name: string | null, margin: string, isTop: boolean): Level<Step> {
    return { steps: children.get(name) ?? [], margin, isTop, next: 0 }
  }
}

interface Level<Step> {
  readonly steps: readonly Step[]
  readonly margin: string
  readonly isTop: boolean
  next: number
}
