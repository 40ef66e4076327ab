import { PunctualError } from '../../core/errors.ts'
import type { Role } from '../../core/permission.ts'
import type { WireNewToken, WireToken } from '../../core/wire/views.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { CatalogStore, TokenRecord, TokenStore } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { mintToken } from '../identity/token.ts'
import type { Actors } from '../identity/actors.ts'
import { auditEntryFor, type RequestedBy } from '../identity/requested-by.ts'

export interface TokenRequest {
  readonly name: string
  readonly role: Role
  readonly expiresAt: number | null
  /** For the whole installation and not for one project. */
  readonly everywhere: boolean
}

export interface TokenAdmin {
  create(by: RequestedBy, request: TokenRequest): Promise<WireNewToken>
  /** Tokens of the project; with `everywhere`, of the whole installation. */
  list(project: string, everywhere: boolean): Promise<readonly WireToken[]>
  revoke(by: RequestedBy, id: string, everywhere: boolean): Promise<void>
}

export function createTokenAdmin(deps: {
  readonly store: TokenStore & Pick<CatalogStore, 'projectNames'>
  readonly catalog: CatalogCache
  readonly actors: Actors
  /** A token changed here: cached data about it is invalid. */
  onChange(tokenId: number): void
}): TokenAdmin {
  const { store, catalog, actors } = deps

  const list = async (project: string, everywhere: boolean): Promise<WireToken[]> => {
    const projectId = everywhere ? null : await catalog.findProject(project)
    if (projectId === null && !everywhere) return []
    return showAll(await store.listTokens({ projectId }))
  }

  const showAll = async (records: readonly TokenRecord[]): Promise<WireToken[]> => {
    const ids = records.flatMap((record) => record.projectId ?? [])
    const projects = await store.projectNames([...new Set(ids)])
    const nameOf = await actors.names()
    return records.map((record) => show(record, projects, nameOf))
  }

  return {
    list,

    async create(by, { name, role, expiresAt, everywhere }) {
      const projectId = everywhere ? null : await catalog.project(by.project)
      const { token, hash, ending } = mintToken()
      const audit = auditEntryFor(by, projectId, 'token.create', name, { role })
      const request = { projectId, name, role, expiresAt, createdBy: by.actor }
      await store.createToken({ ...request, hash, ending, audit })
      const record = (await store.findToken(hash)) as TokenRecord
      const [shown] = await showAll([record])
      return { ...(shown as WireToken), token }
    },

    async revoke(by, id, everywhere) {
      const projectId = everywhere ? null : await catalog.findProject(by.project)
      const number = Number(TOKEN_ID.exec(id)?.[1] ?? Number.NaN)
      const audit = auditEntryFor(by, projectId, 'token.revoke', id)
      const isKnown = Number.isInteger(number) && (everywhere || projectId !== null)
      if (!isKnown || !(await store.revokeToken({ id: number, projectId, audit }))) {
        throw new PunctualError('token_not_found', `there is no token ${id.slice(0, 40)} to revoke`)
      }
      deps.onChange(number)
    },
  }
}

const TOKEN_ID = /^tok_(\d{1,9})$/

function tokenId(id: number): string {
  return `tok_${id}`
}

function show(
  record: TokenRecord,
  projects: ReadonlyMap<number, string>,
  nameOf: (actor: number | null) => string,
): WireToken {
  // An expired token is stored as revoked at its expiry, so that a clock set back cannot revive it.
  const revokedAt = record.revokedAt === record.expiresAt ? null : record.revokedAt
  const time = (at: number | null) => (at === null ? null : formatTime(at, 'at'))
  return {
    id: tokenId(record.id),
    name: record.name,
    role: record.role as Role,
    project: record.projectId === null ? null : (projects.get(record.projectId) ?? null),
    ending: record.ending,
    created_at: formatTime(record.createdAt, 'created_at'),
    created_by: nameOf(record.createdBy),
    expires_at: time(record.expiresAt),
    revoked_at: time(revokedAt),
    last_used_at: time(record.lastUsedAt),
  }
}
