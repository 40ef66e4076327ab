import { PunctualError } from '../../core/errors.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import type { SecretStore } from '../../store/port.ts'

/** Refuses a run with unknown secrets while its caller can still be told. */
export async function requireSecrets(
  submissions: readonly Submission[],
  projectId: number,
  store: Pick<SecretStore, 'findSecrets'>,
): Promise<void> {
  const names = [
    ...new Set(submissions.flatMap(({ secrets = [] }) => secrets.map(({ name }) => name))),
  ]
  const found = await store.findSecrets(names.map((name) => ({ projectId, name })))
  const missing = names.filter((_, index) => found[index] === null)
  if (missing.length === 0) return
  const message = `there is no secret ${missing.join(', ')} in this project`
  throw new PunctualError('secret_not_found', message, { field: 'secrets' })
}
