import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

const SECRET_BYTES = 32

/**
 * Makes the secret by which a worker proves that a session is its own. The store keeps only the
 * digest.
 */
export function mintSessionSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** Plain SHA-256: the secret is random and long, so it cannot be guessed. */
export function digestOfSecret(secret: string): string {
  return hash('sha256', secret)
}

/** The digest as a session keeps it in memory, ready to be compared. */
export function readDigest(digest: string | null): Buffer | null {
  return digest === null ? null : Buffer.from(digest, 'hex')
}

/** Compares in constant time. A session without a secret accepts none. */
export function isSecretOf(digest: Buffer | null, secret: string | undefined): boolean {
  if (digest === null) return true
  if (secret === undefined) return false
  return timingSafeEqual(digest, hash('sha256', secret, 'buffer'))
}
