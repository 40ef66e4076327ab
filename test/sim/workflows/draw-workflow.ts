import type { GraphStep } from '../../../src/core/workflow/graph.ts'
import type { JobDefinition } from '../../../src/core/job/job-definition.ts'
import type { StepInput } from '../../../src/core/workflow/definition.ts'
import { randomGraph } from '../../workflows/random-graph.ts'
import type { Seeded } from '../seeded.ts'

/** A random workflow, as a definition and as a step graph for the checks. */
export interface DrawnWorkflow {
  readonly name: string
  readonly definition: JobDefinition
  readonly steps: readonly GraphStep[]
  /** One wave at a time. */
  readonly isGated: boolean
}

/** Input of a step: its workflow run, its number, and the length of the list to return. */
export interface DrawnStepInput {
  readonly workflow: string
  readonly step: number
  readonly item: number | null
  readonly gives: number
}

/** The task of every step, and the job that some steps run instead. */
export const TASK = 'work'
export const INNER = 'inner'

export function drawWorkflows(seeded: Seeded): readonly DrawnWorkflow[] {
  const inner = drawWorkflow(seeded, INNER, seeded.chance(0.5))
  const others = Array.from({ length: seeded.between(2, 4) }, (_, nth) =>
    drawWorkflow(seeded, `workflow-${nth}`, seeded.chance(0.7)),
  )
  return [inner, ...others]
}

function drawWorkflow(seeded: Seeded, name: string, isGated: boolean): DrawnWorkflow {
  const isInner = name === INNER
  const steps = isInner ? randomGraph(seeded).slice(0, 1).map(withoutNeeds) : randomGraph(seeded)
  const written = steps.map((step, index) => [
    stepNameOf(index),
    writeStep(seeded, step, index, isInner),
  ])
  return {
    name,
    steps,
    isGated,
    definition: {
      steps: Object.fromEntries(written) as Record<string, StepInput>,
      ...(isGated ? {} : { concurrency: 'none' as const }),
      ...(seeded.chance(0.3) ? { timeout: `${seeded.between(5, 120)}s` } : {}),
    },
  }
}

const withoutNeeds = (step: GraphStep): GraphStep => ({ ...step, needs: [], isFinally: false })

function writeStep(seeded: Seeded, step: GraphStep, index: number, isInner: boolean): StepInput {
  const { needs, when, isFinally, mayFail, maxParallel } = step
  const plain: StepInput = {
    when,
    needs: needs.map(stepNameOf),
    finally: isFinally,
    allow_failure: mayFail,
    ...(seeded.chance(0.1) ? { if: '${{ false }}' } : {}),
  }
  const kind = seeded.weighted({ task: 12, each: 4, approve: 2, job: isInner ? 0 : 2 })
  if (kind === 'job') return { ...plain, job: INNER }
  if (kind === 'approve') {
    return { ...plain, approve: seeded.chance(0.5) ? { timeout: '20s' } : {} }
  }
  const work = { workflow: '${{ run.id }}', step: index, gives: seeded.int(4) }
  const retry = seeded.chance(0.3) ? { retry: { max: 1, delay: '1s' } } : {}
  const task = { ...plain, ...retry, task: TASK }
  if (kind === 'task') return { ...task, with: { ...work, item: null } }
  return {
    ...task,
    with: { ...work, item: '${{ each.index }}' },
    each: drawList(seeded, needs),
    ...(maxParallel === null ? {} : { max_parallel: maxParallel }),
  }
}

/** The output of another step, which may be no list, or a literal list. */
function drawList(seeded: Seeded, needs: readonly number[]): StepInput['each'] {
  if (needs.length > 0 && seeded.chance(0.5)) {
    return `\${{ steps.${stepNameOf(seeded.pick(needs))}.output }}`
  }
  return Array.from({ length: seeded.int(5) }, (_, item) => item)
}

/** Names whose alphabetical order is the order of the steps. */
export function stepNameOf(step: number): string {
  return `s${String(step).padStart(3, '0')}`
}
