import { PunctualError } from '../core/errors.ts'
import { publicId } from '../core/ids.ts'
import { LIMITS } from '../core/limits.ts'
import { isFinal } from '../core/run-state.ts'
import type { NewRun, RunRecord } from '../store/port.ts'
import type { Payloads } from './payloads/payloads.ts'

/** A manual retry is the same work as a new run, now, whatever keys and delays the old one had. */
export async function draftAgain(
  run: RunRecord,
  {
    actor,
    key,
    work = run.work,
  }: {
    readonly actor: number | null
    readonly key?: string | undefined
    /** What it executes, if that is not simply the same. */
    readonly work?: string | null
  },
  parts: { readonly payloads: Payloads; mintId(): number; storeNow(): number },
): Promise<NewRun> {
  if (!isFinal(run.state)) {
    const message = `the run is ${run.state}; only a finished run can be retried`
    throw new PunctualError('run_not_final', message)
  }
  // A copy, kept under the new run: what two runs shared, nobody could safely delete.
  const input = run.input && (await parts.payloads.read(run.id, 'input', run.input))
  const { projectId, jobId, laneId, rank, timeoutMs, policy, tags, gates, version } = run
  const until = parts.storeNow() + LIMITS.idempotencyMs
  const digest = `retry of ${publicId('run', run.id)}${work === run.work ? '' : ` as ${work}`}`
  return {
    ...{
      id: parts.mintId(),
      projectId,
      jobId,
      laneId,
      rank,
      timeoutMs,
      policy,
      input,
      tags,
      gates,
    },
    ...{ version, work, createdBy: actor },
    dueAt: null,
    dedupeKey: null,
    idempotency: key === undefined ? null : { key, digest, until },
    retryOf: run.id,
    handOff: null,
  }
}
