import type { Clock } from '../../core/clock.ts'
import type { Role } from '../../core/permission.ts'
import type { CatalogStore, TokenRecord, TokenStore } from '../../store/port.ts'
import { type Caller, ROOT } from './caller.ts'
import { digestOf } from './token.ts'

/** How long a node believes what it knows of a token: a revoked one is dead everywhere after this. */
const BELIEVED_MS = 3_000
/** Beyond this the memory starts over: made-up tokens must not fill it. */
const MEMO_LIMIT = 10_000
const MOST_DIGESTS = 1_000

export interface Authenticator {
  /** Who has this token; null if it is nobody's, or was once. At once, if it was here before. */
  identify(token: string): Caller | null | Promise<Caller | null>
  /** Forgets what is believed, because a token changed here. */
  forget(): void
  /** Tokens used since the last time this was asked, and when. */
  takeUses(): { id: number; at: number }[]
}

interface Known {
  readonly caller: Caller | null
  readonly sinceMono: number
}

export function createAuthenticator(options: {
  readonly store: Pick<TokenStore, 'findToken'> & Pick<CatalogStore, 'projectNames'>
  readonly clock: Clock
  /** The token of this installation, if it has one. */
  readonly rootToken?: string | undefined
}): Authenticator {
  const { store, clock } = options
  const rootHash = options.rootToken === undefined ? null : digestOf(options.rootToken)
  // By digest: looking something up takes a time that depends on the key, and a digest tells nothing.
  const known = new Map<string, Known>()
  const digest = rememberDigests()
  const uses = new Map<number, number>()

  const remember = (hash: string, caller: Caller | null) => {
    if (known.size >= MEMO_LIMIT) known.clear()
    known.set(hash, { caller, sinceMono: clock.mono() })
    return caller
  }

  const lookUp = async (hash: string): Promise<Caller | null> => {
    const record = await store.findToken(hash)
    if (!record || !isValid(record, clock.now())) return remember(hash, null)
    const { id, name, projectId } = record
    const project = projectId === null ? null : await projectName(projectId)
    return remember(hash, { tokenId: id, name, role: record.role as Role, project })
  }

  const projectName = async (id: number): Promise<string> => {
    const name = (await store.projectNames([id])).get(id)
    if (name === undefined) throw new Error(`a token names project ${id}, which is not there`)
    return name
  }

  return {
    identify(token) {
      const hash = digest(token)
      if (hash === rootHash) return ROOT
      const memory = known.get(hash)
      if (!memory || clock.mono() - memory.sinceMono > BELIEVED_MS) return lookUp(hash)
      const { caller } = memory
      if (caller?.tokenId != null) uses.set(caller.tokenId, clock.now())
      return caller
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
 * Making a digest is a noticeable part of a short request, and the same tokens come again and again.
 * Looking one up by itself tells a guesser nothing: a table compares hashes with a seed of its own
 * first, and letters only where all of those agree.
 */
function rememberDigests(): (token: string) => string {
  const digests = new Map<string, string>()
  return (token) => {
    const remembered = digests.get(token)
    if (remembered !== undefined) return remembered
    if (digests.size >= MOST_DIGESTS) digests.clear()
    const hash = digestOf(token)
    digests.set(token, hash)
    return hash
  }
}

function isValid({ revokedAt, expiresAt }: TokenRecord, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now)
}
