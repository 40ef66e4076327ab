import type { Clock } from '../../core/clock.ts'
import { compilingGraph, type Graph } from '../../core/workflow/graph.ts'
import { outputsIn } from '../../core/expression/references.ts'
import type { WorkflowInput } from '../../core/workflow/definition.ts'
import {
  expressionsOf,
  expressionsOfWork,
  readingWorkflow,
} from '../../core/workflow/reading/read-workflow.ts'
import type { Pausing } from '../../core/pausing.ts'
import type { Step, Workflow } from '../../core/workflow/workflow.ts'
import type { JobStore } from '../../store/port.ts'
import { runInSlices } from '../loops/run-in-slices.ts'
import { readStoredJson } from '../json/stored-json.ts'

/** One compiled version of a workflow, shared by any number of its runs. */
export interface CompiledWorkflow {
  readonly workflow: Workflow
  readonly graph: Graph
  /** Step index by name. */
  readonly indexOf: ReadonlyMap<string, number>
  /** Whether a step runs another job. */
  readonly runsJobs: boolean
  /** The steps whose outputs must be known before a step can start, or an item of a known list. */
  outputsFor(step: number, isItem: boolean): readonly number[]
}

/** Cache of compiled workflow versions. Versions are immutable, so an entry never becomes stale. */
export interface CompiledWorkflowCache {
  /** Null if the version no longer exists or is no workflow. */
  find(key: VersionKey): Promise<CompiledWorkflow | null>
}

interface VersionKey {
  readonly jobId: number
  readonly version: number
  readonly job: string
}

/** Maximum number of cached steps over all workflows; the oldest version is evicted first. */
const MOST_STEPS = 300_000

export function createCompiledWorkflowCache({
  store,
  clock,
}: {
  readonly store: Pick<JobStore, 'definitionsOf'>
  readonly clock: Pick<Clock, 'mono'>
}): CompiledWorkflowCache {
  const known = new Map<string, CompiledWorkflow>()
  /** Reads in progress: a version is read once, however many of its runs begin together. */
  const reading = new Map<string, Promise<CompiledWorkflow | null>>()
  let steps = 0

  const remember = (key: string, compiled: CompiledWorkflow) => {
    for (const [oldest, { graph }] of known) {
      if (steps + compiled.graph.size <= MOST_STEPS) break
      known.delete(oldest)
      steps -= graph.size
    }
    known.set(key, compiled)
    steps += compiled.graph.size
  }

  const read = async (key: string, { jobId, version, job }: VersionKey) => {
    try {
      const [text] = await store.definitionsOf([{ jobId, version }])
      const definition = text ? ((await readStoredJson(text, clock)) as WorkflowInput) : null
      if (definition?.steps === undefined) return null
      const compiled = await runInSlices(compiling(definition, job), clock)
      remember(key, compiled)
      return compiled
    } finally {
      reading.delete(key)
    }
  }

  return {
    async find(version) {
      const key = `${version.jobId}/${version.version}`
      const found = known.get(key)
      if (found) return found
      const begun = reading.get(key) ?? read(key, version)
      reading.set(key, begun)
      return begun
    },
  }
}

function* compiling(definition: WorkflowInput, job: string): Pausing<CompiledWorkflow> {
  const workflow = yield* readingWorkflow(definition, { job })
  const graph = yield* compilingGraph(workflow.steps, workflow.needs)
  const indexOf = new Map(workflow.steps.map(({ name }, index) => [name, index]))
  return {
    workflow,
    graph,
    indexOf,
    runsJobs: workflow.steps.some(({ does }) => does.kind === 'job'),
    outputsFor(step, isItem) {
      const asked = isItem ? expressionsOfWork : expressionsOf
      const expressions = asked(workflow.steps[step] as Step)
      const names = new Set(expressions.flatMap(({ root }) => outputsIn(root)))
      return [...names].map((name) => indexOf.get(name) as number)
    },
  }
}
