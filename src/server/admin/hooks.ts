import { createHash } from 'node:crypto'
import { PunctualError } from '../../core/errors.ts'
import { hookSecret, type WireHookRun } from '../../core/hook.ts'
import type { JobDefinition } from '../../core/job-definition.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Submission, SubmitAnswer } from '../../core/protocol.ts'
import type { JobRecord, JobStore } from '../../store/port.ts'
import type { Catalog } from '../catalog.ts'
import type { Vault } from '../secrets/vault.ts'
import { isSigned, type SignedMessage } from '../webhooks/check-signature.ts'
import type { By } from './by.ts'

/** Calls from elsewhere that jobs want to be run by. */
export interface Hooks {
  /** Runs the jobs that name this hook, each once however often the call is repeated. */
  receive(by: By, name: string, call: HookCall): Promise<readonly WireHookRun[]>
}

export interface HookCall extends SignedMessage {
  readonly input: unknown
}

export function createHooks(deps: {
  readonly store: Pick<JobStore, 'listDefinitions'>
  readonly catalog: Pick<Catalog, 'findProject'>
  readonly vault: Pick<Vault, 'reveal'>
  storeNow(): number
  submit(by: By, submission: Submission): Promise<SubmitAnswer>
}): Hooks {
  const { store, catalog, vault, storeNow, submit } = deps

  /** Only whoever knows the secret gets here, so that it may take a look at every job. */
  const jobsOf = async (projectId: number, name: string): Promise<JobRecord[]> => {
    const found: JobRecord[] = []
    for (let after = ''; ;) {
      const page = await store.listDefinitions({ projectId, after, limit: LIMITS.pageSize })
      found.push(...page.filter(({ definition }) => namesHook(definition, name)))
      const last = page.at(-1)
      if (!last || page.length < LIMITS.pageSize) return found
      after = last.name
    }
  }

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
      const jobs = await jobsOf(projectId, name)
      if (jobs.length === 0) {
        throw new PunctualError('hook_not_found', `no job is to be run by the hook ${name}`)
      }
      const runs: WireHookRun[] = []
      for (const { name: job, paused } of jobs) {
        if (paused) continue
        const idempotencyKey = keyOf(name, call.id, job)
        runs.push({ job, ...(await submit(by, { job, input, idempotencyKey })) })
      }
      return runs
    },
  }
}

function namesHook(text: string, name: string): boolean {
  // Most jobs have no triggers, and need not be taken apart to see it.
  if (!text.includes('"triggers"')) return false
  const { triggers = [] } = JSON.parse(text) as JobDefinition
  return triggers.some(({ webhook }) => webhook === name)
}

/** Senders choose their ids, and the three together may be longer than a key. */
function keyOf(...parts: readonly string[]): string {
  return `hook:${createHash('sha256').update(parts.join('\n')).digest('base64url')}`
}
