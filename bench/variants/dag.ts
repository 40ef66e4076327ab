import { quantile } from '../harness/statistics.ts'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'
import { type WorkflowShape, createSteps } from '../load/workflows.ts'
import { openWorkflowPunctual } from '../systems/workflow-punctual.ts'

export interface DagSettings {
  readonly store: string
  readonly shape: WorkflowShape
  readonly steps: number
  readonly runs: number
}

const WARM_UP_STEPS = 200
const WARM_UP_RUNS = 10
const SAMPLE_MS = 50
const MB = 1_048_576

/** Measures workflows from their submission to the durable end of the last one. */
measureAndExit(async () => {
  const { store, shape, steps, runs } = readVariantSettings() as DagSettings
  const stepDelays: number[] = []
  let handled = 0
  let lastEnd = NaN
  const system = await openWorkflowPunctual(store, {
    started() {
      handled += 1
      // Only in a chain did this step wait for the step that ended last.
      if (shape === 'chain' && !Number.isNaN(lastEnd)) stepDelays.push(performance.now() - lastEnd)
    },
    ended: () => void (lastEnd = performance.now()),
  })
  const concurrency = 'none'
  await system.define('warm-up', { steps: createSteps('chain', WARM_UP_STEPS), concurrency })
  await system.runWorkflows('warm-up', WARM_UP_RUNS)
  const measured = createSteps(shape, steps)
  const defining = watchMemoryGrowth()
  await system.define('measured', { steps: measured, concurrency })
  handled = 0
  stepDelays.length = 0
  lastEnd = NaN

  const running = watchMemoryGrowth()
  const startedAt = performance.now()
  const states = await system.runWorkflows('measured', runs)
  const seconds = (performance.now() - startedAt) / 1_000
  const grownMb = running.stop()
  const grownWithDefinitionMb = defining.stop()
  await system.close()

  verify('workflows succeeded', runs, states.filter((state) => state === 'succeeded').length)
  if (shape !== 'short' && shape !== 'long') verify('steps run', steps * runs, handled)
  return {
    stepsPerSecond: (steps * runs) / seconds,
    seconds,
    grownMb,
    grownWithDefinitionMb,
    ...(shape === 'chain' && { p50: quantile(stepDelays, 0.5), p99: quantile(stepDelays, 0.99) }),
  }
})

/** Measures the maximum growth of the process's memory from now on. */
function watchMemoryGrowth() {
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let maxRss = before
  const sampling = setInterval(
    () => (maxRss = Math.max(maxRss, process.memoryUsage().rss)),
    SAMPLE_MS,
  )
  return {
    stop() {
      clearInterval(sampling)
      return (maxRss - before) / MB
    },
  }
}
