import type { GraphStep } from '../../../src/core/workflow/graph.ts'
import type { JobDefinition } from '../../../src/core/job/job-definition.ts'
import type { StepInput } from '../../../src/core/workflow/definition.ts'
import { randomGraph } from '../../workflows/random-graph.ts'
import type { Seeded } from '../../sim/seeded.ts'

/** A workflow whose steps are processes that record when they begin and end. */
export interface TracedWorkflow {
  readonly name: string
  readonly definition: JobDefinition
  readonly steps: readonly GraphStep[]
  /** One wave at a time. */
  readonly isGated: boolean
}

/** A workflow that steps of the others run, so that its waves come from several workflows. */
const INNER = 'inner'
const MAX_STEPS = 10

/** The script appends whole lines: their order is the order of events. */
const JOB = `
  report() { echo "$1 $PUNCTUAL_RUN_ID $PUNCTUAL_ATTEMPT $PUNCTUAL_FENCE $WORKFLOW $STEP $ITEM" >> "$TRUTH"; }
  report begin
  trap 'report stopped; exit 1' TERM
  sleep "$LAST"
  report end
  [ "$PUNCTUAL_ATTEMPT" -gt "$FAIL_FIRST" ]`

/** Work of a run that is not a step; it writes `-` in place of the step. */
export function stepWorkOf(truthPath: string, lastMs: number) {
  const env = { WORKFLOW: '-', STEP: '-', ITEM: '-', FAIL_FIRST: '0' }
  const own = { TRUTH: truthPath, LAST: String(lastMs / 1_000) }
  return { executor: 'shell', run: JOB, shell: '/bin/sh', env: { ...env, ...own } } as const
}

export function drawDefinitions(
  seeded: Seeded,
  count: number,
  truthPath: string,
): readonly TracedWorkflow[] {
  const inner = draw(seeded, INNER, 0, truthPath)
  const others = Array.from({ length: count }, (_, nth) =>
    draw(seeded, `workflow-${nth}`, nth, truthPath),
  )
  return [inner, ...others]
}

function draw(seeded: Seeded, name: string, nth: number, truthPath: string): TracedWorkflow {
  let graph = randomGraph(seeded)
  while (graph.length > MAX_STEPS) graph = randomGraph(seeded)
  const steps = graph.map((step) => mostlySucceeding(seeded, step))
  // Some of each kind in every scenario.
  const isGated = nth % 2 === 0
  const written = steps.map((step, index): [string, StepInput] => [
    stepName(index),
    write(seeded, step, index, name === INNER),
  ])
  const definition: JobDefinition = {
    env: { TRUTH: truthPath },
    shell: '/bin/sh',
    ...(isGated ? {} : { concurrency: 'none' }),
    steps: Object.fromEntries(written),
  }
  return { name, definition, steps, isGated }
}

/** Steps that wait for a failure would almost never run, so most of them become ordinary steps. */
function mostlySucceeding(seeded: Seeded, step: GraphStep): GraphStep {
  const isPessimistic = step.when === 'any-failed' && seeded.chance(0.7)
  return isPessimistic ? { ...step, when: 'all-done' } : step
}

function write(seeded: Seeded, step: GraphStep, index: number, isInner: boolean): StepInput {
  const { needs, when, isFinally, mayFail, maxParallel } = step
  const plain: StepInput = {
    when,
    needs: needs.map(stepName),
    finally: isFinally,
    allow_failure: mayFail,
    ...(seeded.chance(0.08) ? { if: '${{ false }}' } : {}),
  }
  const kind = seeded.weighted({ run: 12, each: 4, approve: 1, job: isInner ? 0 : 2 })
  if (kind === 'job') return { ...plain, job: INNER }
  if (kind === 'approve') return { ...plain, approve: { timeout: '1s' } }
  const lastMs = seeded.weighted({ short: 8, long: 2 }) === 'short' ? 60 : 1_500
  const env = {
    WORKFLOW: '${{ run.id }}',
    STEP: String(index),
    ITEM: kind === 'each' ? '${{ each.index }}' : '-',
    LAST: String(seeded.between(5, lastMs) / 1_000),
    FAIL_FIRST: String(seeded.pick([0, 0, 0, 0, 0, 0, 1, 9])),
  }
  const work = { ...plain, run: JOB, env, retry: { max: 1, delay: '100ms', jitter: 0 } }
  if (kind === 'run') return work
  const each = Array.from({ length: seeded.between(0, 4) }, (_, item) => item)
  return { ...work, each, ...(maxParallel === null ? {} : { max_parallel: maxParallel }) }
}

/** Names whose alphabetical order is the order of the steps. */
function stepName(step: number): string {
  return `s${String(step).padStart(3, '0')}`
}
