import type { Caller } from './caller.ts'

/** The owner of a worker session. */
export interface Principal {
  /** A single token, or another principal of the server. */
  readonly id: string
  /** Stays the same when a token is replaced by another one: role, project and name. */
  readonly identity: string
  readonly tokenId: number | null
  /** The only project it may act for; null for all of them. */
  readonly project: string | null
}

/** Workers inside the server's own process. No HTTP request ever acts as this principal. */
export const INTERNAL: Principal = {
  id: 'internal',
  identity: 'internal',
  tokenId: null,
  project: null,
}

/** One object for every request of a caller: the authenticator gives all of them the same caller. */
const principals = new WeakMap<Caller, Principal>()

export function principalOf(caller: Caller): Principal {
  const known = principals.get(caller)
  if (known) return known
  const principal = describePrincipal(caller)
  principals.set(caller, principal)
  return principal
}

function describePrincipal({ tokenId, role, project, name }: Caller): Principal {
  if (tokenId === null) return { id: 'root', identity: 'root', tokenId, project }
  const identity = `token ${JSON.stringify([role, project, name])}`
  return { id: `token:${tokenId}`, identity, tokenId, project }
}

/** The same caller in the compatibility protocol: the other protocol cannot reach its sessions. */
export function compatPrincipalOf(caller: Caller): Principal {
  const { id, tokenId, project } = principalOf(caller)
  return { id: `plain ${id}`, identity: `plain ${id}`, tokenId, project }
}

/** True if it may act for all of these projects; an empty list means every existing project. */
export function mayServe({ project }: Principal, projects: readonly string[]): boolean {
  if (project === null) return true
  return projects.length > 0 && projects.every((name) => name === project)
}
