import { createHmac } from 'node:crypto'
import { publicId } from '../../core/ids.ts'

/** Enough hexadecimal digits for an integer below 2^52. */
const DIGITS = 13

/**
 * The public id of a worker, the same on every node. It is derived from the session with a secret
 * of this installation, so the session cannot be computed from it.
 */
export type WorkerIds = (session: number) => string

export function createWorkerIds(installation: string): WorkerIds {
  return (session) => {
    const digest = createHmac('sha256', installation).update(`worker ${session}`).digest('hex')
    return publicId('wrk', Number.parseInt(digest.slice(0, DIGITS), 16))
  }
}
