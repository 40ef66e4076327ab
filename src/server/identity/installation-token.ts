import type { TokenRecord, TokenStore } from '../../store/port.ts'
import { type RequestedBy, auditEntryFor } from './requested-by.ts'
import { tokenDigestOf } from './token.ts'

/**
 * Who accepts the token in the data directory of a node. `every_node`: its digest is in the store,
 * as the token of the installation. `this_node`: another token is registered, and `holder` says
 * where it is kept. `none`: it was revoked.
 */
export type AdminTokenReach =
  | { readonly acceptedBy: 'every_node' }
  | { readonly acceptedBy: 'this_node'; readonly holder: string | undefined }
  | { readonly acceptedBy: 'none' }

/** The token file in the data directory of a node. */
export interface AdminTokenFile {
  readonly token: string
  /** Location of the file, as shown to users. */
  readonly place: string
  /** Digest of the token from this data directory that was registered for the installation. */
  registered(): string | undefined
  setRegistered(digest: string): void
}

const PREFIX = 'admin-token of '
const ENDING = 4
/** Author of the node's own changes in the audit log. */
const NODE: RequestedBy = { project: '', actor: null, request: null, address: null }
const EVERY_NODE: AdminTokenReach = { acceptedBy: 'every_node' }

type Tokens = Pick<TokenStore, 'createToken' | 'findToken' | 'listTokens' | 'revokeToken'>

/**
 * Registers the token of a node for the installation if the store has none yet, or if the
 * registered one came from the same data directory and was replaced there. Only the digest is
 * stored. Two nodes that start at the same moment on an empty store may both do so; both tokens are
 * then valid for the installation, and the list of tokens shows both.
 */
export async function registerAdminToken(
  store: Tokens,
  { token, place, ...file }: AdminTokenFile,
): Promise<AdminTokenReach> {
  const hash = tokenDigestOf(token)
  const own = await store.findToken(hash)
  if (own) return reachOf(own)
  const replaced = await revokeReplaced(store, file.registered())
  const all = await store.listTokens({ projectId: null })
  const other = all.find((record) => isValid(record) && record.id !== replaced)
  if (other) return { acceptedBy: 'this_node', holder: other.name.slice(PREFIX.length) }
  await create(store, { name: PREFIX + place, hash, ending: token.slice(-ENDING) })
  file.setRegistered(hash)
  return EVERY_NODE
}

/** Whether a node wrote this row about its own token: names given by users contain no spaces. */
export function isOfInstallation({ projectId, name }: TokenRecord): boolean {
  return projectId === null && name.startsWith(PREFIX)
}

function isValid(record: TokenRecord): boolean {
  return isOfInstallation(record) && record.revokedAt === null
}

/**
 * An ordinary token in the file is accepted by other nodes with its own permissions, and by this
 * node as before.
 */
function reachOf(own: TokenRecord): AdminTokenReach {
  if (!isOfInstallation(own)) return { acceptedBy: 'this_node', holder: undefined }
  return own.revokedAt === null ? EVERY_NODE : { acceptedBy: 'none' }
}

/** An operator removes a leaked token file and expects that the old token is refused. */
async function revokeReplaced(
  store: Tokens,
  hash: string | undefined,
): Promise<number | undefined> {
  const record = hash === undefined ? null : await store.findToken(hash)
  if (!record || !isValid(record)) return undefined
  const { id } = record
  const audit = auditEntryFor(NODE, null, 'token.revoke', `tok_${id}`)
  await store.revokeToken({ id, projectId: null, audit })
  return id
}

async function create(
  store: Tokens,
  { name, hash, ending }: { name: string; hash: string; ending: string },
): Promise<void> {
  const audit = auditEntryFor(NODE, null, 'token.create', name, { role: 'admin' })
  const token = { name, hash, ending, projectId: null, role: 'admin', expiresAt: null }
  try {
    await store.createToken({ ...token, createdBy: null, audit })
  } catch (error) {
    // Another node with a copy of the same file was faster.
    if (!(await store.findToken(hash))) throw error
  }
}
