import { quantile } from '../harness/statistics.ts'
import { measure, readSettings, verify } from '../harness/variant-process.ts'
import { type Shape, stepsOf } from '../load/workflows.ts'
import { openWorkflowPunctual } from '../systems/workflow-punctual.ts'

export interface DagSettings {
  readonly store: string
  readonly shape: Shape
  readonly steps: number
  readonly runs: number
}

const WARM_UP_STEPS = 200
const WARM_UP_RUNS = 10
const SAMPLE_MS = 50
const MB = 1_048_576

/** Workflows from their submission to the durable end of the last of them. */
measure(async () => {
  const { store, shape, steps, runs } = readSettings() as DagSettings
  const handovers: number[] = []
  let handled = 0
  let lastEnd = NaN
  const system = await openWorkflowPunctual(store, {
    started() {
      handled += 1
      // Only in a chain is the step that ended last the one that this one waited for.
      if (shape === 'chain' && !Number.isNaN(lastEnd)) handovers.push(performance.now() - lastEnd)
    },
    ended: () => void (lastEnd = performance.now()),
  })
  const concurrency = 'none'
  await system.define('warm-up', { steps: stepsOf('chain', WARM_UP_STEPS), concurrency })
  await system.play('warm-up', WARM_UP_RUNS)
  const measured = stepsOf(shape, steps)
  const defining = watchMemory()
  await system.define('measured', { steps: measured, concurrency })
  handled = 0
  handovers.length = 0
  lastEnd = NaN

  const running = watchMemory()
  const startedAt = performance.now()
  const states = await system.play('measured', runs)
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
    ...(shape === 'chain' && { p50: quantile(handovers, 0.5), p99: quantile(handovers, 0.99) }),
  }
})

/** By how much the process grows from now on, at most. */
function watchMemory() {
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let most = before
  const sampling = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), SAMPLE_MS)
  return {
    stop() {
      clearInterval(sampling)
      return (most - before) / MB
    },
  }
}
