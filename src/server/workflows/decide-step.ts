import { PunctualError } from '../../core/errors.ts'
import type { Json } from '../../core/expression/expression.ts'
import { WHOLE } from '../../core/workflow/step-facts.ts'
import { publicId } from '../../core/ids.ts'
import { storable } from '../../core/text/storable.ts'
import { acceptInput } from '../../core/workflow/accept-input.ts'
import type { Step } from '../../core/workflow/workflow.ts'
import { auditOf, type By } from '../identity/requested-by.ts'
import { type HeldFlow, PLAIN } from './loaded-workflow.ts'
import type { Request } from './step-requests.ts'

/** What somebody says to an approval. */
export interface Answer {
  readonly isGiven: boolean
  /** What was asked of whoever agrees. */
  readonly input?: Json | undefined
  /** Why, for those who read it later. */
  readonly message?: string | undefined
}

/** `name` is what the token of whoever answers is called; null for the token of the installation, which may. */
export function answerApproval(
  stepName: string,
  { isGiven, input, message: said }: Answer,
  by: By & { readonly name: string | null },
): Request {
  const message = said === undefined ? undefined : storable(said)
  return (held) => {
    const { step, does } = find(held, stepName)
    if (does.kind !== 'approve' || !held.approvals.has(step)) {
      throw notWaiting(stepName, 'does not wait to be approved')
    }
    const { approval } = does
    if (approval.by.length > 0 && by.name !== null && !approval.by.includes(by.name)) {
      throw new PunctualError(
        'forbidden',
        `${stepName} is for ${approval.by.join(', ')} to approve`,
      )
    }
    const { job, project, scheduledAt, record } = held
    const run = { id: publicId('run', record.runId), job, project, wave: record.wave, scheduledAt }
    const answers = isGiven ? acceptInput(approval.parameters, input, run) : null
    return {
      mark: {
        ...{ ...PLAIN, step, item: WHOLE, message: message ?? null },
        ...(isGiven
          ? { state: 'succeeded', detail: answers === null ? null : JSON.stringify(answers) }
          : { state: 'failed', reason: 'refused' }),
      },
      audit: auditOf(by, record.projectId, isGiven ? 'step.approve' : 'step.refuse', run.id, {
        step: stepName,
        ...(message === undefined ? {} : { message }),
      }),
    }
  }
}

/** Only what has not begun: what runs can be cancelled, and what has failed skipped in a retry. */
export function skipStep(stepName: string, item: number | undefined, by: By): Request {
  return (held) => {
    const { step } = find(held, stepName)
    const place = item ?? WHOLE
    if (!held.progress.isSkippable(step, place)) {
      throw notWaiting(stepName, 'has begun, or is over: it can no longer be skipped')
    }
    const { runId, projectId } = held.record
    const detail = { step: stepName, ...(item === undefined ? {} : { item }) }
    return {
      mark: { ...PLAIN, step, item: place, state: 'skipped', reason: 'operator' },
      audit: auditOf(by, projectId, 'step.skip', publicId('run', runId), detail),
    }
  }
}

function find({ compiled }: HeldFlow, name: string): Step & { readonly step: number } {
  const step = compiled.indexOf.get(name)
  if (step === undefined) throw new PunctualError('step_not_found', `there is no step ${name}`)
  return { ...(compiled.workflow.steps[step] as Step), step }
}

function notWaiting(name: string, what: string): PunctualError {
  return new PunctualError('step_not_waiting', `${name} ${what}`)
}
