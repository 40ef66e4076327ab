import { PunctualError } from '../../../core/errors.ts'
import type { RetryHow } from '../../../core/run/retry-options.ts'
import type { JobStore, NewRun, RunRecord } from '../../../store/port.ts'
import { readDefinition } from '../../definitions/definitions.ts'
import { againOf } from './retry-run.ts'
import { createDraft, type Drafting } from '../draft-runs.ts'
import type { TimeFor } from './scheduled-time.ts'

/** A finished run with another input, or of another version of its job. */
export type Replay = (
  run: RunRecord,
  how: Pick<RetryHow, 'input' | 'version'>,
  actor: number | null,
) => Promise<NewRun>

/**
 * What follows its job is made anew from that version of it, so that its input is checked and its keys
 * are those of the new input. A run that brought its own work is the same with another input.
 */
export function createReplay(
  drafting: Omit<Drafting, 'definitions'> & {
    readonly store: Drafting['store'] & Pick<JobStore, 'definitionsOf'>
    readonly timeFor: TimeFor
  },
): Replay {
  const { store, catalog, mintId, timeFor } = drafting
  return async (run, { input, version = run.version ?? undefined }, actor) => {
    const text = input === undefined ? run.input : JSON.stringify(input)
    if (version === undefined) return { ...againOf(run, mintId(), actor), input: text }
    await catalog.learnNames([run.jobId], [run.projectId])
    const job = catalog.jobName(run.jobId)
    const [definition] = await store.definitionsOf([{ jobId: run.jobId, version }])
    if (!definition) {
      const message = `there is no version ${version} of ${job}`
      throw new PunctualError('invalid_field', message, { field: 'version' })
    }
    const pinned = readDefinition({ version, definition, paused: null }, job)
    const draft = createDraft({
      ...drafting,
      definitions: { known: () => pinned, find: async () => pinned },
    })
    const submission = {
      ...{ job, tags: run.tags === null ? undefined : (JSON.parse(run.tags) as Tags) },
      ...(text === null ? {} : { input: JSON.parse(text) as unknown }),
      scheduledAt: await timeFor(run),
      ...(run.rank === 0 ? {} : { priority: -run.rank }),
    }
    const [again] = await draft([submission], catalog.projectName(run.projectId), actor)
    return { ...(again as NewRun), retryOf: run.id }
  }
}

type Tags = Readonly<Record<string, string>>
