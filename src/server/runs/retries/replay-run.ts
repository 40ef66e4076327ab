import { PunctualError } from '../../../core/errors.ts'
import type { RetryOptions } from '../../../core/run/retry-options.ts'
import type { JobStore, NewRun, RunRecord } from '../../../store/port.ts'
import { writingJson } from '../../../core/text/json-text.ts'
import { readDefinition } from '../../definitions/definitions.ts'
import { runInSlices } from '../../loops/run-in-slices.ts'
import { readStoredJson } from '../../json/stored-json.ts'
import { repeatOf } from './retry-run.ts'
import { createDraft, type Drafting } from '../draft-runs.ts'
import type { ScheduledTimeOf } from './scheduled-time.ts'

/** Runs a finished run again with another input or another version of its job. */
export type ReplayRun = (
  run: RunRecord,
  how: Pick<RetryOptions, 'input' | 'version'>,
  actor: number | null,
) => Promise<NewRun>

/**
 * A run that follows its job is made anew from that version, so its input is checked and its keys
 * belong to the new input. A run with its own work keeps the work and gets the new input.
 */
export function createReplay(
  drafting: Omit<Drafting, 'definitions'> & {
    readonly store: Drafting['store'] & Pick<JobStore, 'definitionsOf'>
    readonly timeFor: ScheduledTimeOf
  },
): ReplayRun {
  const { store, catalog, clock, mintId, timeFor } = drafting
  return async (run, { input, version = run.version ?? undefined }, actor) => {
    const text = input === undefined ? run.input : await runInSlices(writingJson(input), clock)
    if (version === undefined) return { ...repeatOf(run, mintId(), actor), input: text }
    await catalog.learnNames([run.jobId], [run.projectId])
    const job = catalog.jobName(run.jobId)
    const [definition] = await store.definitionsOf([{ jobId: run.jobId, version }])
    if (!definition) {
      const message = `there is no version ${version} of ${job}`
      throw new PunctualError('invalid_field', message, { field: 'version' })
    }
    const pinned = await readDefinition({ version, definition, paused: null }, job, drafting.clock)
    const draft = createDraft({
      ...drafting,
      definitions: { known: () => pinned, find: async () => pinned },
    })
    const submission = {
      job,
      tags: run.tags === null ? undefined : (JSON.parse(run.tags) as Tags),
      ...(text === null ? {} : { input: input ?? (await readStoredJson(text, clock)) }),
      scheduledAt: await timeFor(run),
      ...(run.rank === 0 ? {} : { priority: -run.rank }),
    }
    const [again] = await draft([submission], catalog.projectName(run.projectId), actor)
    return { ...(again as NewRun), retryOf: run.id }
  }
}

type Tags = Readonly<Record<string, string>>
