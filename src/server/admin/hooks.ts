import { createHash } from 'node:crypto'
import { isLasting, PunctualError } from '../../core/errors.ts'
import { hookSecretName, type WireHookRun } from '../../core/webhook/hook.ts'
import type { Submission, SubmitAnswer } from '../../core/wire/protocol.ts'
import type { JobStore } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { Vault } from '../secrets/vault.ts'
import { isSigned, type SignedMessage } from '../webhooks/check-signature.ts'
import type { RequestedBy } from '../identity/requested-by.ts'

/** Incoming webhook calls that trigger jobs. */
export interface HookReceiver {
  /**
   * Runs the jobs that name this webhook, each once however often the call is repeated. If one job
   * refuses the input, none runs, so that the sender of a refused call need not find out what ran.
   */
  receive(by: RequestedBy, name: string, call: HookCall): Promise<readonly WireHookRun[]>
}

export interface HookCall extends SignedMessage {
  readonly input: unknown
}

export function createHookReceiver(deps: {
  readonly store: Pick<JobStore, 'jobsOfHook'>
  readonly catalog: Pick<CatalogCache, 'findProject'>
  readonly vault: Pick<Vault, 'reveal'>
  storeNow(): number
  submit(by: RequestedBy, submission: Submission): Promise<SubmitAnswer>
  check(by: RequestedBy, submission: Submission): Promise<void>
}): HookReceiver {
  const { store, catalog, vault, storeNow, submit, check } = deps

  return {
    async receive(by, name, { input, ...call }) {
      const projectId = await catalog.findProject(by.project)
      const [secret] =
        projectId === null ? [] : await vault.reveal([{ projectId, name: hookSecretName(name) }])
      // One answer for all cases, so that an outsider cannot find out what exists.
      if (
        projectId === null ||
        secret?.kind !== 'value' ||
        !isSigned(call, secret.value, storeNow())
      ) {
        throw new PunctualError(
          'bad_signature',
          `the call of ${name} has a missing or wrong signature`,
        )
      }
      const jobs = await store.jobsOfHook({ projectId, name })
      if (jobs.length === 0) {
        throw new PunctualError('hook_not_found', `no job is triggered by the hook ${name}`)
      }
      const submissions = jobs
        .filter(({ isPaused }) => !isPaused)
        .map(({ name: job }) => ({ job, input, idempotencyKey: keyOf(name, call.id, job) }))
      for (const one of submissions) await check(by, one).catch(naming(one.job))
      const runs: WireHookRun[] = []
      for (const one of submissions) runs.push({ job: one.job, ...(await submit(by, one)) })
      return runs
    },
  }
}

/** Names the job in the error, because all jobs get the same input. */
function naming(job: string): (error: unknown) => never {
  return (error) => {
    if (!isLasting(error)) throw error
    const { code, message, field, hint, isGeneral } = error
    throw new PunctualError(code, `the job ${job}: ${message}`, {
      cause: error,
      ...(field !== undefined && { field }),
      ...(!isGeneral && { hint }),
    })
  }
}

/** Senders choose their ids, and the three parts together may exceed the length of a key. */
function keyOf(...parts: readonly string[]): string {
  return `hook:${createHash('sha256').update(parts.join('\n')).digest('base64url')}`
}
