import { compileGraph, type Graph } from '../../core/flow/graph.ts'
import type { WorkflowInput } from '../../core/workflow/definition.ts'
import { expressionsOf, readWorkflow } from '../../core/workflow/read-workflow.ts'
import type { Step, Workflow } from '../../core/workflow/workflow.ts'
import type { JobStore } from '../../store/port.ts'

/** One version of a workflow, ready to be run by any number of flows. */
export interface Compiled {
  readonly workflow: Workflow
  readonly graph: Graph
  /** By name. */
  readonly indexOf: ReadonlyMap<string, number>
  /** The steps whose outputs have to be known before a step can be started. */
  outputsFor(step: number): readonly number[]
}

/** Versions are immutable: what was read once stays true. */
export interface WorkflowBook {
  /** Null if there is no such version any more, or it is no workflow. */
  find(key: { jobId: number; version: number; job: string }): Promise<Compiled | null>
}

/** Remembered up to so many steps, all workflows together; the oldest is forgotten first. */
const MOST_STEPS = 300_000

export function createWorkflowBook(store: Pick<JobStore, 'definitionsOf'>): WorkflowBook {
  const known = new Map<string, Compiled>()
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

  return {
    async find({ jobId, version, job }) {
      const key = `${jobId}/${version}`
      const found = known.get(key)
      if (found) return found
      const [text] = await store.definitionsOf([{ jobId, version }])
      const definition = text ? (JSON.parse(text) as WorkflowInput) : null
      if (definition?.steps === undefined) return null
      const compiled = compile(readWorkflow(definition, { job }))
      // Others may have asked for the same while it was read.
      if (!known.has(key)) remember(key, compiled)
      return compiled
    },
  }
}

function compile(workflow: Workflow): Compiled {
  const indexOf = new Map(workflow.steps.map(({ name }, index) => [name, index]))
  return {
    workflow,
    graph: compileGraph(workflow.steps),
    indexOf,
    outputsFor(step) {
      const expressions = expressionsOf(workflow.steps[step] as Step)
      const names = new Set(expressions.flatMap((expression) => expression.steps))
      return [...names].map((name) => indexOf.get(name) as number)
    },
  }
}
