import { hash, randomBytes } from 'node:crypto'

/** Scanners for leaked secrets look for this prefix. */
const PREFIX = 'punctual_'
const SECRET_BYTES = 32
const ENDING = 4

/** Makes a random token. It is shown once; only its digest is stored. */
export function mintToken(): { token: string; hash: string; ending: string } {
  const token = PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
  return { token, hash: tokenDigestOf(token), ending: token.slice(-ENDING) }
}

/** Plain SHA-256: the token is random and long, so a slow hash would add nothing. */
export function tokenDigestOf(token: string): string {
  return hash('sha256', token)
}
