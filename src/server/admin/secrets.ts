import { PunctualError } from '../../core/errors.ts'
import { requireSecretName, requireSecretValue } from '../../core/secrets/secret.ts'
import { VARIABLE_NAME } from '../../core/work/variable.ts'
import type { WirePage, WireRotation, WireSecret, WireSecretKeys } from '../../core/wire/views.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { SecretRecord, SecretStore } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { readNameCursor } from '../paging/cursor.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Actors } from '../identity/actors.ts'
import { auditEntryFor, type RequestedBy } from '../identity/requested-by.ts'
import { pageLimit, pageOf, type Paging } from '../paging/paging.ts'

/** Manages secrets. Their values cannot be read here. */
export interface SecretAdmin {
  put(by: RequestedBy, name: string, value: string): Promise<{ secret: WireSecret; isNew: boolean }>
  list(project: string, paging: Paging): Promise<WirePage<WireSecret>>
  remove(by: RequestedBy, name: string): Promise<void>
  /** The keys of this installation that encrypt secrets. */
  keys(): Promise<WireSecretKeys>
  /** Encrypts the secrets of all projects again, with the preferred key of this node. */
  rotate(by: RequestedBy): Promise<WireRotation>
}

export function createSecretAdmin(deps: {
  readonly store: SecretStore
  readonly catalog: CatalogCache
  readonly actors: Actors
  readonly vault: Vault
}): SecretAdmin {
  const { store, catalog, actors, vault } = deps

  const keys = async (): Promise<WireSecretKeys> => ({
    keys: (await store.secretKeys()).map(({ id, secrets }) => ({ id, secrets })),
  })

  return {
    async put(by, name, value) {
      requireSecretName(name, 'name')
      requireSecretValue(value, 'value')
      const projectId = await catalog.project(by.project)
      const audit = auditEntryFor(by, projectId, 'secret.put', name)
      const record = await vault.put({ projectId, name }, value, audit)
      return { secret: show(record, await actors.names()), isNew: record.version === 1 }
    },

    async list(project, { limit, cursor }) {
      const after = readNameCursor(cursor, VARIABLE_NAME) || AFTER_INTERNAL_NAMES
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
      const audit = auditEntryFor(by, projectId, 'secret.delete', name)
      if (projectId === null || !(await store.removeSecret({ projectId, name, audit }))) {
        throw new PunctualError('secret_not_found', `there is no secret ${name}`)
      }
    },

    keys,

    async rotate(by) {
      const { keyId, resealed, broken } = await vault.rotate(
        auditEntryFor(by, null, 'secret.rotate', 'keys'),
      )
      return { key: keyId, resealed, broken, ...(await keys()) }
    },
  }
}

/** Internal names begin with a dot, so they sort before all names of users. */
const AFTER_INTERNAL_NAMES = '/'

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
