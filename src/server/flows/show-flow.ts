import { timelineOf, type TimelineRow } from '../../core/flow/timeline.ts'
import { type StepFact, type StepReason, WHOLE } from '../../core/flow/facts.ts'
import { whySkipped } from '../../core/flow/why-skipped.ts'
import type { When } from '../../core/workflow/definition.ts'
import type { Step } from '../../core/workflow/workflow.ts'
import type { FlowRecord, StepRecord } from '../../store/port.ts'
import { asFacts } from './take-over.ts'
import type { Compiled } from './workflow-book.ts'

/** A flow for people: where it stands and why, with names instead of places. */
export interface ShownFlow {
  readonly wave: number
  readonly steps: readonly ShownStep[]
}

export interface ShownStep extends Omit<TimelineRow, 'step'> {
  readonly name: string
  readonly kind: Step['does']['kind']
  readonly needs: readonly string[]
  readonly when: When
  readonly isFinally: boolean
  readonly runId: number | null
  readonly reason: StepReason | null
  readonly message: string | null
  /** When nobody is waited for any longer, if it is an approval. */
  readonly dueAt: number | null
  /** Where it was skipped because of others: which of its needs, and where that began. */
  readonly because: {
    readonly needs: readonly string[]
    readonly origins: readonly string[]
  } | null
}

export function showFlow(
  { wave }: FlowRecord,
  { workflow, graph }: Compiled,
  records: readonly StepRecord[],
): ShownFlow {
  const facts = asFacts(records)
  const wholes = new Map(facts.flatMap((fact) => (fact.item === WHOLE ? [[fact.step, fact]] : [])))
  const nameOf = (step: number) => (workflow.steps[step] as Step).name
  const becauseOf = (fact: StepFact | undefined) => {
    if (fact?.reason !== 'needs') return null
    const { needs, origins } = whySkipped(graph, (step) => wholes.get(step), fact.step)
    return { needs: needs.map(nameOf), origins: origins.map(nameOf) }
  }
  return {
    wave,
    steps: timelineOf(graph, facts).map(({ step, ...row }) => {
      const { name, does, needs, when, isFinally } = workflow.steps[step] as Step
      const { runId = null, reason = null, message = null, dueAt = null } = wholes.get(step) ?? {}
      return {
        ...{ name, kind: does.kind, needs: needs.map(nameOf), when, isFinally, ...row },
        ...{ runId, reason, message, dueAt, because: becauseOf(wholes.get(step)) },
      }
    }),
  }
}
