import type { GraphStep } from '../../../src/core/workflow/graph.ts'
import type { JobDefinition } from '../../../src/core/job/job-definition.ts'
import type { StepInput } from '../../../src/core/workflow/definition.ts'
import { randomGraph } from '../../workflows/random-graph.ts'
import type { Seeded } from '../seeded.ts'

/** A workflow as people wrote it, and as those who judge what becomes of it read it. */
export interface Drawn {
  readonly name: string
  readonly definition: JobDefinition
  readonly steps: readonly GraphStep[]
  /** One wave at a time. */
  readonly isGated: boolean
}

/** What a step tells whoever does it: whose it is, and how long a list to give. */
export interface StepWork {
  readonly flow: string
  readonly step: number
  readonly item: number | null
  readonly gives: number
}

/** The task that every step of them is, and the job that some of them run instead. */
export const TASK = 'work'
export const INNER = 'inner'

export function drawWorkflows(seeded: Seeded): readonly Drawn[] {
  const inner = drawWorkflow(seeded, INNER, seeded.chance(0.5))
  const others = Array.from({ length: seeded.between(2, 4) }, (_, nth) =>
    drawWorkflow(seeded, `flow-${nth}`, seeded.chance(0.7)),
  )
  return [inner, ...others]
}

function drawWorkflow(seeded: Seeded, name: string, isGated: boolean): Drawn {
  const isInner = name === INNER
  const steps = isInner ? randomGraph(seeded).slice(0, 1).map(alone) : randomGraph(seeded)
  const written = steps.map((step, index) => [nameOf(index), write(seeded, step, index, isInner)])
  return {
    ...{ name, steps, isGated },
    definition: {
      steps: Object.fromEntries(written) as Record<string, StepInput>,
      ...(isGated ? {} : { concurrency: 'none' as const }),
      ...(seeded.chance(0.3) ? { timeout: `${seeded.between(5, 120)}s` } : {}),
    },
  }
}

const alone = (step: GraphStep): GraphStep => ({ ...step, needs: [], isFinally: false })

function write(seeded: Seeded, step: GraphStep, index: number, isInner: boolean): StepInput {
  const { needs, when, isFinally, mayFail, maxParallel } = step
  const plain: StepInput = {
    ...{ when, needs: needs.map(nameOf), finally: isFinally, allow_failure: mayFail },
    ...(seeded.chance(0.1) ? { if: '${{ false }}' } : {}),
  }
  const kind = seeded.weighted({ task: 12, each: 4, approve: 2, job: isInner ? 0 : 2 })
  if (kind === 'job') return { ...plain, job: INNER }
  if (kind === 'approve') {
    return { ...plain, approve: seeded.chance(0.5) ? { timeout: '20s' } : {} }
  }
  const work = { flow: '${{ run.id }}', step: index, gives: seeded.int(4) }
  const retry = seeded.chance(0.3) ? { retry: { max: 1, delay: '1s' } } : {}
  const task = { ...plain, ...retry, task: TASK }
  if (kind === 'task') return { ...task, with: { ...work, item: null } }
  return {
    ...{ ...task, with: { ...work, item: '${{ each.index }}' }, each: drawList(seeded, needs) },
    ...(maxParallel === null ? {} : { max_parallel: maxParallel }),
  }
}

/** What another step gave, which may be no list, or a list that is written down. */
function drawList(seeded: Seeded, needs: readonly number[]): StepInput['each'] {
  if (needs.length > 0 && seeded.chance(0.5)) {
    return `\${{ steps.${nameOf(seeded.pick(needs))}.output }}`
  }
  return Array.from({ length: seeded.int(5) }, (_, item) => item)
}

/** In the order of their places, however they are sorted. */
export function nameOf(step: number): string {
  return `s${String(step).padStart(3, '0')}`
}
