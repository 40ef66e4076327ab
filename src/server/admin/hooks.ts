import { createHash } from 'node:crypto'
import { isLasting, PunctualError } from '../../core/errors.ts'
import { hookSecret, type WireHookRun } from '../../core/webhook/hook.ts'
import type { Submission, SubmitAnswer } from '../../core/wire/protocol.ts'
import type { JobStore } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import type { Vault } from '../secrets/vault.ts'
import { isSigned, type SignedMessage } from '../webhooks/check-signature.ts'
import type { By } from '../identity/requested-by.ts'

/** Calls from elsewhere that jobs want to be run by. */
export interface Hooks {
  /**
   * Runs the jobs that name this hook, each once however often the call is repeated. If one of them does
   * not take what is sent, none runs: whoever hears that it was refused need not find out what was not.
   */
  receive(by: By, name: string, call: HookCall): Promise<readonly WireHookRun[]>
}

export interface HookCall extends SignedMessage {
  readonly input: unknown
}

export function createHooks(deps: {
  readonly store: Pick<JobStore, 'jobsOfHook'>
  readonly catalog: Pick<Catalog, 'findProject'>
  readonly vault: Pick<Vault, 'reveal'>
  storeNow(): number
  submit(by: By, submission: Submission): Promise<SubmitAnswer>
  check(by: By, submission: Submission): Promise<void>
}): Hooks {
  const { store, catalog, vault, storeNow, submit, check } = deps

  return {
    async receive(by, name, { input, ...call }) {
      const projectId = await catalog.findProject(by.project)
      const [secret] =
        projectId === null ? [] : await vault.reveal([{ projectId, name: hookSecret(name) }])
      // The same answer whatever is missing: a stranger learns nothing of what there is.
      if (
        projectId === null ||
        secret?.kind !== 'value' ||
        !isSigned(call, secret.value, storeNow())
      ) {
        throw new PunctualError(
          'bad_signature',
          `the call of ${name} is not signed as it has to be`,
        )
      }
      const jobs = await store.jobsOfHook({ projectId, name })
      if (jobs.length === 0) {
        throw new PunctualError('hook_not_found', `no job is to be run by the hook ${name}`)
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

/** Which of the jobs it was, for they are all given the same. */
function naming(job: string): (error: unknown) => never {
  return (error) => {
    if (!isLasting(error)) throw error
    const { code, message, field, hint, isGeneral } = error
    throw new PunctualError(code, `the job ${job}: ${message}`, {
      ...{ cause: error, ...(field !== undefined && { field }) },
      ...(!isGeneral && { hint }),
    })
  }
}

/** Senders choose their ids, and the three together may be longer than a key. */
function keyOf(...parts: readonly string[]): string {
  return `hook:${createHash('sha256').update(parts.join('\n')).digest('base64url')}`
}
