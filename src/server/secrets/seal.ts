import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SecretName } from '../../store/port.ts'
import type { SecretKey } from './keys.ts'

const CIPHER = 'aes-256-gcm'
const FORMAT = '1.'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** What a sealed text is about. It opens only for the same subject, so rows cannot be exchanged. */
export type SealSubject = SecretName | 'check'

/** `1.` and base64 of nonce, text and tag. The nonce is random each time. */
export function seal({ id, key }: SecretKey, subject: SealSubject, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(associated(id, subject))
  const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final()])
  return FORMAT + Buffer.concat([body, cipher.getAuthTag()]).toString('base64url')
}

/** Undefined if it was sealed with another key, for another subject, or changed since. */
export function unseal(
  { id, key }: SecretKey,
  subject: SealSubject,
  sealed: string,
): string | undefined {
  if (!sealed.startsWith(FORMAT)) return undefined
  const bytes = Buffer.from(sealed.slice(FORMAT.length), 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const body = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(associated(id, subject))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

function associated(keyId: string, subject: SealSubject): Buffer {
  const about = subject === 'check' ? [] : [subject.projectId, subject.name]
  return Buffer.from(JSON.stringify([FORMAT, keyId, ...about]))
}
