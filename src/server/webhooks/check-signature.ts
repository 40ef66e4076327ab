import { createHmac, timingSafeEqual } from 'node:crypto'
import { HOOK_TOLERANCE_MS } from '../../core/webhook/hook.ts'

/** A message signed by its sender, in the same way as our own. */
export interface SignedMessage {
  readonly id: string
  /** Seconds since 1970, as text. */
  readonly timestamp: string
  /** One or several: `v1,…`. */
  readonly signature: string
  readonly body: Buffer
}

const ID = /^[\x21-\x7e]{1,255}$/
const SECONDS = /^\d{1,12}$/

/** Whether the sender knows the secret and sent the message recently. */
export function isSigned(message: SignedMessage, secret: string, now: number): boolean {
  const { id, timestamp, signature, body } = message
  if (!ID.test(id) || !SECONDS.test(timestamp)) return false
  if (Math.abs(now - Number(timestamp) * 1_000) > HOOK_TOLERANCE_MS) return false
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  return signature.split(' ').some((one) => {
    const [version, text = ''] = one.split(',', 2)
    const given = Buffer.from(text, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}
