import { publicId } from '../../core/ids.ts'
import { WHOLE_STEP } from '../../core/workflow/progress/step-facts.ts'
import { auditEntryFor, type RequestedBy } from '../identity/requested-by.ts'
import { findStep, notWaiting } from './decide-approval.ts'
import { EMPTY_MARK } from './loaded-workflow.ts'
import type { StepRequest } from './step-requests.ts'

/**
 * Skips only a step that has not begun: a run can be cancelled, and a failed step can be skipped in
 * a retry.
 */
export function skipStep(stepName: string, item: number | undefined, by: RequestedBy): StepRequest {
  return (loaded) => {
    const { step } = findStep(loaded, stepName)
    const place = item ?? WHOLE_STEP
    if (!loaded.progress.isSkippable(step, place)) {
      throw notWaiting(stepName, 'has begun, or is over: it can no longer be skipped')
    }
    const { runId, projectId } = loaded.record
    const detail = { step: stepName, ...(item === undefined ? {} : { item }) }
    return {
      mark: { ...EMPTY_MARK, step, item: place, state: 'skipped', reason: 'operator' },
      audit: auditEntryFor(by, projectId, 'step.skip', publicId('run', runId), detail),
    }
  }
}
