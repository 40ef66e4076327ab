import type { Clock } from '../../core/clock.ts'
import type { Role } from '../../core/permission.ts'
import type { CatalogStore, TokenRecord, TokenStore } from '../../store/port.ts'
import { type Caller, ROOT } from './caller.ts'
import { isOfInstallation } from './installation-token.ts'
import { tokenDigestOf } from './token.ts'

/** How long a node caches a token: a revoked one is invalid everywhere after this. */
const CACHED_MS = 3_000
/** At this size the cache is cleared: made-up tokens must not fill it. */
const MEMO_LIMIT = 10_000
const MOST_DIGESTS = 1_000

export interface Authenticator {
  /** The owner of this token; null if it is unknown or revoked. Synchronous if it is cached. */
  identify(token: string): Caller | null | Promise<Caller | null>
  /** Clears the cache because a token changed here. */
  forget(): void
  /** Tokens used since the last call, and when. */
  takeUses(): { id: number; at: number }[]
}

interface Known {
  readonly caller: Caller | null
  /** The id of the token's row; absent if there is none. */
  readonly tokenId?: number
  readonly sinceMono: number
}

export function createAuthenticator(options: {
  readonly store: Pick<TokenStore, 'findToken' | 'expireTokens'> &
    Pick<CatalogStore, 'projectNames'>
  readonly clock: Clock
  /** The trusted time. */
  storeNow(): number
  /** Whether expiry by that time may be stored permanently. */
  mayExpire(): boolean
  /** The token of this installation, if it has one. */
  readonly rootToken?: string | undefined
  /** The store has it too, and every node on the store accepts it until it is revoked there. */
  readonly isRootStored?: boolean | undefined
  /** A revoked or expired token was used. */
  onDead?(tokenId: number, isOfInstallation: boolean): void
}): Authenticator {
  const { store, clock, storeNow } = options
  const rootHash = options.rootToken === undefined ? null : tokenDigestOf(options.rootToken)
  /** The last known owner of this node's token: without the store nothing else is known. */
  let root: Caller | null | undefined
  // Keyed by digest: the duration of a lookup depends on the key, and a digest reveals nothing.
  const known = new Map<string, Known>()
  const digest = rememberDigests()
  const uses = new Map<number, number>()

  const remember = (hash: string, caller: Caller | null, tokenId?: number) => {
    if (known.size >= MEMO_LIMIT) known.clear()
    known.set(hash, { caller, sinceMono: clock.mono(), ...(tokenId !== undefined && { tokenId }) })
    return caller
  }

  const lookUp = async (hash: string): Promise<Caller | null> => {
    const record = await store.findToken(hash)
    if (!record) return remember(hash, null)
    if (!isValid(record, storeNow())) {
      options.onDead?.(record.id, isOfInstallation(record))
      if (record.revokedAt === null && options.mayExpire()) await store.expireTokens()
      return remember(hash, null)
    }
    // The same caller on every node: sessions and the audit log must not depend on the node.
    if (isOfInstallation(record)) return remember(hash, ROOT, record.id)
    const { id, name, projectId } = record
    const project = projectId === null ? null : await projectName(projectId)
    return remember(hash, { tokenId: id, name, role: record.role as Role, project }, id)
  }

  /** While the database is unavailable, the token keeps its last known state. */
  const lookUpRoot = async (hash: string): Promise<Caller | null> => {
    try {
      root = await lookUp(hash)
    } catch (error) {
      if (root === undefined) throw error
      remember(hash, root)
    }
    return root
  }

  const projectName = async (id: number): Promise<string> => {
    const name = (await store.projectNames([id])).get(id)
    if (name === undefined) throw new Error(`a token names project ${id}, which is not there`)
    return name
  }

  return {
    identify(token) {
      const hash = digest(token)
      const isRoot = hash === rootHash
      if (isRoot && !options.isRootStored) return ROOT
      const memory = known.get(hash)
      if (!memory || clock.mono() - memory.sinceMono > CACHED_MS) {
        return isRoot ? lookUpRoot(hash) : lookUp(hash)
      }
      if (memory.caller && memory.tokenId !== undefined) uses.set(memory.tokenId, storeNow())
      return memory.caller
    },
    forget: () => known.clear(),
    takeUses() {
      const taken = Array.from(uses, ([id, at]) => ({ id, at }))
      uses.clear()
      return taken
    },
  }
}

/**
 * Caches digests. Computing one is a noticeable part of a short request, and the same tokens
 * repeat. The lookup by token reveals nothing: the table first compares hashes with a secret seed,
 * and characters only if those match.
 */
function rememberDigests(): (token: string) => string {
  const digests = new Map<string, string>()
  return (token) => {
    const remembered = digests.get(token)
    if (remembered !== undefined) return remembered
    if (digests.size >= MOST_DIGESTS) digests.clear()
    const hash = tokenDigestOf(token)
    digests.set(token, hash)
    return hash
  }
}

function isValid({ revokedAt, expiresAt }: TokenRecord, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now)
}
