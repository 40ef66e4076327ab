import type { Clock } from '../../core/clock.ts'
import { compilingGraph, type Graph } from '../../core/workflow/graph.ts'
import { outputsIn } from '../../core/expression/references.ts'
import type { WorkflowInput } from '../../core/workflow/definition.ts'
import {
  expressionsOf,
  expressionsOfWork,
  readingWorkflow,
} from '../../core/workflow/read-workflow.ts'
import type { Pausing } from '../../core/pausing.ts'
import type { Step, Workflow } from '../../core/workflow/workflow.ts'
import type { JobStore } from '../../store/port.ts'
import { inTurns } from '../loops/run-in-slices.ts'

/** One version of a workflow, ready to be run by any number of flows. */
export interface Compiled {
  readonly workflow: Workflow
  readonly graph: Graph
  /** By name. */
  readonly indexOf: ReadonlyMap<string, number>
  /** Whether a step of it runs another job. */
  readonly runsJobs: boolean
  /** The steps whose outputs have to be known before a step can be started, or an item of a known list. */
  outputsFor(step: number, isItem: boolean): readonly number[]
}

/** Versions are immutable: what was read once stays true. */
export interface WorkflowBook {
  /** Null if there is no such version any more, or it is no workflow. */
  find(key: VersionKey): Promise<Compiled | null>
}

interface VersionKey {
  readonly jobId: number
  readonly version: number
  readonly job: string
}

/** Remembered up to so many steps, all workflows together; the oldest is forgotten first. */
const MOST_STEPS = 300_000

export function createWorkflowBook({
  store,
  clock,
}: {
  readonly store: Pick<JobStore, 'definitionsOf'>
  readonly clock: Pick<Clock, 'mono'>
}): WorkflowBook {
  const known = new Map<string, Compiled>()
  /** Being read: however many flows of a version begin together, it is read once. */
  const reading = new Map<string, Promise<Compiled | null>>()
  let steps = 0

  const remember = (key: string, compiled: Compiled) => {
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
      const definition = text ? (JSON.parse(text) as WorkflowInput) : null
      if (definition?.steps === undefined) return null
      const compiled = await inTurns(compiling(definition, job), clock)
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

function* compiling(definition: WorkflowInput, job: string): Pausing<Compiled> {
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
