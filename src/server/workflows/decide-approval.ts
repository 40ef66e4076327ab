import { PunctualError } from '../../core/errors.ts'
import type { Json } from '../../core/expression/expression.ts'
import { WHOLE_STEP } from '../../core/workflow/progress/step-facts.ts'
import { publicId } from '../../core/ids.ts'
import { storable } from '../../core/text/storable.ts'
import { acceptInput } from '../../core/workflow/parameters/accept-input.ts'
import type { Step } from '../../core/workflow/workflow.ts'
import { auditEntryFor, type RequestedBy } from '../identity/requested-by.ts'
import { type LoadedWorkflow, EMPTY_MARK } from './loaded-workflow.ts'
import type { StepRequest } from './step-requests.ts'

/** The answer to an approval. */
export interface ApprovalAnswer {
  readonly isGiven: boolean
  /** The input that an approving user was asked for. */
  readonly input?: Json | undefined
  /** The reason, for later readers. */
  readonly message?: string | undefined
}

/**
 * Approves a step, or refuses to. `name` is the name of the caller's token; null for the token of
 * the installation, which may always answer.
 */
export function decideApproval(
  stepName: string,
  { isGiven, input, message: givenMessage }: ApprovalAnswer,
  by: RequestedBy & { readonly name: string | null },
): StepRequest {
  const message = givenMessage === undefined ? undefined : storable(givenMessage)
  return (loaded) => {
    const { step, does } = findStep(loaded, stepName)
    if (does.kind !== 'approve' || !loaded.approvals.has(step)) {
      throw notWaiting(stepName, 'does not wait to be approved')
    }
    const { approval } = does
    if (approval.by.length > 0 && by.name !== null && !approval.by.includes(by.name)) {
      throw new PunctualError(
        'forbidden',
        `${stepName} is for ${approval.by.join(', ')} to approve`,
      )
    }
    const { job, project, scheduledAt, record } = loaded
    const run = { id: publicId('run', record.runId), job, project, wave: record.wave, scheduledAt }
    const answers = isGiven ? acceptInput(approval.parameters, input, run) : null
    return {
      mark: {
        ...EMPTY_MARK,
        step,
        item: WHOLE_STEP,
        message: message ?? null,
        ...(isGiven
          ? { state: 'succeeded', detail: answers === null ? null : JSON.stringify(answers) }
          : { state: 'failed', reason: 'refused' }),
      },
      audit: auditEntryFor(by, record.projectId, isGiven ? 'step.approve' : 'step.refuse', run.id, {
        step: stepName,
        ...(message === undefined ? {} : { message }),
      }),
    }
  }
}

/** Finds the step that a request names; throws if the workflow has none of that name. */
export function findStep(
  { compiled }: LoadedWorkflow,
  name: string,
): Step & { readonly step: number } {
  const step = compiled.indexOf.get(name)
  if (step === undefined) throw new PunctualError('step_not_found', `there is no step ${name}`)
  return { ...(compiled.workflow.steps[step] as Step), step }
}

export function notWaiting(name: string, what: string): PunctualError {
  return new PunctualError('step_not_waiting', `${name} ${what}`)
}
