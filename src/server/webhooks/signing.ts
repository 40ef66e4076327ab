import { createHmac, randomBytes } from 'node:crypto'
import { PunctualError } from '../../core/errors.ts'

/** Secrets and signatures according to Standard Webhooks, so that its libraries can verify them. */
const PREFIX = 'whsec_'
const SECRET = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/
const LEAST_BYTES = 24
const MOST_BYTES = 64
const ENDING = 4

export function mintSecret(): string {
  return PREFIX + randomBytes(32).toString('base64')
}

/**
 * Checks a secret chosen by a user: long enough not to be guessed, and in a form that receivers can
 * read.
 */
export function requireSecret(text: string, field: string): string {
  const bytes = Buffer.from(SECRET.exec(text)?.[1] ?? '', 'base64')
  const isRound = PREFIX + bytes.toString('base64') === text
  if (isRound && bytes.length >= LEAST_BYTES && bytes.length <= MOST_BYTES) return text
  const message = `${field} must be whsec_ and the Base64 of ${LEAST_BYTES} to ${MOST_BYTES} bytes`
  throw new PunctualError('invalid_field', message, { field })
}

/** The end of a secret, for recognition only. */
export function secretEnding(secret: string): string {
  return secret.replace(/=+$/, '').slice(-ENDING)
}

export interface WebhookMessage {
  readonly id: string
  readonly body: string
  /** Seconds since 1970. */
  readonly at: number
}

/** One signature for every secret in use: a receiver needs only one of them. */
export function signedHeaders(
  { id, body, at }: WebhookMessage,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`
  })
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': signatures.join(' '),
  }
}
