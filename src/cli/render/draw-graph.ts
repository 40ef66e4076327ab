import type { WirePlannedStep } from '../../core/workflow/views/step-views.ts'

/** One line of the drawing: the branches to the left, the step, and its other needs. */
export interface GraphLine<Step> {
  readonly branch: string
  readonly step: Step
  /** What the step needs besides its parent in the drawing. */
  readonly alsoNeeds: readonly string[]
}

/** Deeper chains are drawn straight down, to stay within the terminal's width. */
const DEEPEST = 60

/**
 * Draws steps as a text tree: each step is below the last of those it needs, and names the others.
 * `finally` steps come last, at the top level unless they name needs.
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
  // A stack instead of recursion: a chain may have 100,000 steps.
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
    lines.push({ branch, step, alsoNeeds: step.needs.filter((name) => name !== parents.get(step)) })
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
