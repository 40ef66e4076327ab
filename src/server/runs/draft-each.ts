import { PunctualError } from '../../core/errors.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import type { NewRun } from '../../store/port.ts'
import type { Draft } from './draft-runs.ts'

/** Drafts runs nobody waits for an answer about: each that cannot be made is an error in its place. */
export type DraftEach = (
  submissions: readonly Submission[],
  project: string,
  actor: number | null,
) => Promise<(NewRun | PunctualError)[]>

export function createDraftEach(draft: Draft): DraftEach {
  /** All at once; where one of them cannot be made, one by one, to see which. */
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
