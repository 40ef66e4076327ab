import { MAX_SHOWN_NEEDS, type WirePlannedStep } from '../../../core/workflow/views/step-views.ts'
import type { Step } from '../../../core/workflow/workflow.ts'
import type { CompiledWorkflow } from '../compiled-workflow-cache.ts'

const KIND = { submit: 'work', job: 'job', approve: 'approval' } as const

/** A step as its definition has it. */
export function planStep({ workflow }: CompiledWorkflow, step: number): WirePlannedStep {
  const { name, does, when, isFinally, each } = workflow.steps[step] as Step
  const needs = workflow.needs.of(step)
  const nameOf = (need: number) => (workflow.steps[need] as Step).name
  const named = Array.from(needs.subarray(0, MAX_SHOWN_NEEDS), nameOf)
  return {
    name,
    kind: KIND[does.kind],
    needs: named,
    needs_count: needs.length,
    when,
    finally: isFinally,
    each: each !== null,
  }
}
