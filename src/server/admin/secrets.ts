import { PunctualError } from '../../core/errors.ts'
import { requireSecretName, requireSecretValue } from '../../core/work/secret.ts'
import { VARIABLE } from '../../core/work/variable.ts'
import type { WirePage, WireRotation, WireSecret, WireSecretKeys } from '../../core/wire/views.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { SecretRecord, SecretStore } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import { readNameCursor } from '../paging/cursor.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Actors } from '../identity/actors.ts'
import { auditOf, type By } from '../identity/requested-by.ts'
import type { Paging } from './jobs.ts'
import { pageLimit, pageOf } from '../paging/paging.ts'

/** Secrets as people set them. Nobody reads one here. */
export interface Secrets {
  put(by: By, name: string, value: string): Promise<{ secret: WireSecret; isNew: boolean }>
  list(project: string, paging: Paging): Promise<WirePage<WireSecret>>
  remove(by: By, name: string): Promise<void>
  /** The keys of the installation that secrets are sealed with. */
  keys(): Promise<WireSecretKeys>
  /** Seals the secrets of all projects anew, with the best key of this node. */
  rotate(by: By): Promise<WireRotation>
}

export function createSecrets(deps: {
  readonly store: SecretStore
  readonly catalog: Catalog
  readonly actors: Actors
  readonly vault: Vault
}): Secrets {
  const { store, catalog, actors, vault } = deps

  const keys = async (): Promise<WireSecretKeys> => ({
    keys: (await store.secretKeys()).map(({ id, secrets }) => ({ id, secrets })),
  })

  return {
    async put(by, name, value) {
      requireSecretName(name, 'name')
      requireSecretValue(value, 'value')
      const projectId = await catalog.project(by.project)
      const audit = auditOf(by, projectId, 'secret.put', name)
      const record = await vault.put({ projectId, name }, value, audit)
      return { secret: show(record, await actors.names()), isNew: record.version === 1 }
    },

    async list(project, { limit, cursor }) {
      const after = readNameCursor(cursor, VARIABLE) || AFTER_OUR_OWN
      const projectId = await catalog.findProject(project)
      if (projectId === null) return { data: [], next_cursor: null }
      const size = pageLimit(limit)
      const nameOf = await actors.names()
      return pageOf(
        await store.listSecrets({ projectId, after, limit: size + 1 }),
        size,
        (row) => show(row, nameOf),
        ({ name }) => name,
      )
    },

    async remove(by, name) {
      const projectId = await catalog.findProject(by.project)
      const audit = auditOf(by, projectId, 'secret.delete', name)
      if (projectId === null || !(await store.removeSecret({ projectId, name, audit }))) {
        throw new PunctualError('secret_not_found', `there is no secret ${name}`)
      }
    },

    keys,

    async rotate(by) {
      const { keyId, resealed, broken } = await vault.rotate(
        auditOf(by, null, 'secret.rotate', 'keys'),
      )
      return { key: keyId, resealed, broken, ...(await keys()) }
    },
  }
}

/** Names that we give ourselves begin with a dot, and stand before all that people can choose. */
const AFTER_OUR_OWN = '/'

function show(record: SecretRecord, nameOf: (actor: number | null) => string): WireSecret {
  const { name, version, keyId, updatedAt, updatedBy } = record
  return {
    name,
    version,
    updated_at: formatTime(updatedAt, 'updated_at'),
    updated_by: nameOf(updatedBy),
    key: keyId,
  }
}
