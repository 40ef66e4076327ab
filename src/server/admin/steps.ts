import { parsePublicId } from '../../core/ids.ts'
import type { WireJobStep, WireStep } from '../../core/workflow/views/step-views.ts'
import type { WirePage } from '../../core/wire/views.ts'
import { type ApprovalAnswer, decideApproval } from '../workflows/decide-approval.ts'
import { skipStep } from '../workflows/skip-step.ts'
import type { WorkflowEngine } from '../workflows/workflow-engine.ts'
import type { WorkflowReader } from '../workflows/views/workflow-reader.ts'
import type { JobSteps } from '../workflows/views/job-steps.ts'
import type { RequestedBy } from '../identity/requested-by.ts'
import type { Paging } from '../paging/paging.ts'

/** Steps of workflows: reading them, and decisions of users about them. */
export interface StepAdmin extends Pick<WorkflowReader, 'steps' | 'step' | 'items'> {
  /**
   * Approves or rejects a step. `name` is the name of the caller's token; null may answer for
   * everyone.
   */
  answer(
    by: RequestedBy & { readonly name: string | null },
    id: string,
    step: string,
    answer: ApprovalAnswer,
    disconnected?: AbortSignal,
  ): Promise<WireStep>
  skip(
    by: RequestedBy,
    id: string,
    step: string,
    item: number | undefined,
    disconnected?: AbortSignal,
  ): Promise<WireStep>
  ofJob(project: string, job: string, paging: Paging): Promise<WirePage<WireJobStep>>
}

export function createStepAdmin({
  reading,
  ofJob,
  ask,
}: {
  readonly reading: WorkflowReader
  readonly ofJob: JobSteps
  readonly ask: WorkflowEngine['decide']
}): StepAdmin {
  const { steps, step: show, items } = reading

  const decide = async (
    { project }: RequestedBy,
    id: string,
    step: string,
    request: Parameters<WorkflowEngine['decide']>[1],
    disconnected: AbortSignal | undefined,
  ): Promise<WireStep> => {
    // Hides runs of other projects from callers that decide about them.
    await show(project, id, step)
    await ask(parsePublicId('run', id) as number, request, disconnected)
    return show(project, id, step)
  }

  return {
    steps,
    step: show,
    items,
    ofJob,
    answer: (by, id, step, answer, disconnected) =>
      decide(by, id, step, decideApproval(step, answer, by), disconnected),
    skip: (by, id, step, item, disconnected) =>
      decide(by, id, step, skipStep(step, item, by), disconnected),
  }
}
