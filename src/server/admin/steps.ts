import { parsePublicId } from '../../core/ids.ts'
import type { WireJobStep, WireStep } from '../../core/workflow/step-views.ts'
import type { WirePage } from '../../core/wire/views.ts'
import { type Answer, answerApproval, skipStep } from '../workflows/decide-step.ts'
import type { Flows } from '../workflows/workflow-engine.ts'
import type { FlowReading } from '../workflows/views/workflow-reader.ts'
import type { JobSteps } from '../workflows/views/job-steps.ts'
import type { By } from '../identity/requested-by.ts'
import type { Paging } from './jobs.ts'

/** Steps of workflows, as people look at them and decide about them. */
export interface Steps extends Pick<FlowReading, 'steps' | 'step' | 'items'> {
  /** Says yes or no to what a step asks. `name` is what whoever answers is called; null for everybody. */
  answer(
    by: By & { readonly name: string | null },
    id: string,
    step: string,
    answer: Answer,
    gone?: AbortSignal,
  ): Promise<WireStep>
  skip(
    by: By,
    id: string,
    step: string,
    item: number | undefined,
    gone?: AbortSignal,
  ): Promise<WireStep>
  ofJob(project: string, job: string, paging: Paging): Promise<WirePage<WireJobStep>>
}

export function createSteps({
  reading,
  ofJob,
  ask,
}: {
  readonly reading: FlowReading
  readonly ofJob: JobSteps
  readonly ask: Flows['ask']
}): Steps {
  const { steps, step: show, items } = reading

  const decide = async (
    { project }: By,
    id: string,
    step: string,
    request: Parameters<Flows['ask']>[1],
    gone: AbortSignal | undefined,
  ): Promise<WireStep> => {
    // Nobody learns of runs of others by deciding about them.
    await show(project, id, step)
    await ask(parsePublicId('run', id) as number, request, gone)
    return show(project, id, step)
  }

  return {
    steps,
    step: show,
    items,
    ofJob,
    answer: (by, id, step, answer, gone) =>
      decide(by, id, step, answerApproval(step, answer, by), gone),
    skip: (by, id, step, item, gone) => decide(by, id, step, skipStep(step, item, by), gone),
  }
}
