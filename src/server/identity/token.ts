import { hash, randomBytes } from 'node:crypto'

/** Scanners for leaked secrets look for this. */
const PREFIX = 'punctual_'
const SECRET_BYTES = 32
const ENDING = 4

/** A token nobody can guess. It is shown once; only its digest is kept. */
export function mintToken(): { token: string; hash: string; ending: string } {
  const token = PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
  return { token, hash: digestOf(token), ending: token.slice(-ENDING) }
}

/** Plain SHA-256: what it hides is random and long, so there is nothing to slow a guesser down for. */
export function digestOf(token: string): string {
  return hash('sha256', token)
}
