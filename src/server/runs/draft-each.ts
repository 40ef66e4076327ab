import { PunctualError } from '../../core/errors.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import type { NewRun } from '../../store/port.ts'
import type { DraftRuns } from './draft-runs.ts'

/**
 * Drafts runs that no client is waiting for: a submission that cannot become a run yields an error
 * in its place.
 */
export type DraftEach = (
  submissions: readonly Submission[],
  project: string,
  actor: number | null,
) => Promise<(NewRun | PunctualError)[]>

export function createDraftEach(draft: DraftRuns): DraftEach {
  /** Drafts all at once; if that fails, one by one to find the culprit. */
  const draftEach: DraftEach = async (submissions, project, actor) => {
    if (submissions.length === 0) return []
    try {
      return await draft(submissions, project, actor)
    } catch (error) {
      if (!(error instanceof PunctualError) || error.status >= 500) throw error
      if (submissions.length === 1) return [error]
      const each: (NewRun | PunctualError)[] = []
      for (const one of submissions) each.push(...(await draftEach([one], project, actor)))
      return each
    }
  }
  return draftEach
}
