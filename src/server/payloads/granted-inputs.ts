import { PunctualError } from '../../core/errors.ts'
import type { HeldLease } from '../sessions/session.ts'
import type { Payloads } from './payloads.ts'
import { mayBeReference, readReference } from './reference.ts'

/** Maximum size of blob inputs in one answer to a worker. */
const ANSWER_BYTES = 16 * 1024 * 1024

/** Inputs of granted runs that are blobs. */
export interface GrantedInputs {
  /**
   * Reads as many as one answer may carry; the others follow with the next answer. A temporary read
   * error is retried then. A permanent one ends the run, because it cannot be started.
   */
  read(granted: readonly HeldLease[]): Promise<ReadonlyMap<HeldLease, string>>
}

export function createGrantedInputs({
  payloads,
  isEnding,
  fail,
  onError,
}: {
  readonly payloads: Payloads
  /** The end of the lease is already on its way to the store. */
  isEnding(lease: HeldLease): boolean
  fail(lease: HeldLease, message: string): void
  onError(error: unknown): void
}): GrantedInputs {
  const readOne = async (lease: HeldLease, inputs: Map<HeldLease, string>) => {
    try {
      inputs.set(lease, await payloads.read(lease.runId, 'input', lease.input as string))
    } catch (error) {
      onError(error)
      if (!(error instanceof PunctualError) || error.code !== 'blob_unreadable') return
      fail(lease, error.message)
    }
  }

  return {
    async read(granted) {
      const inputs = new Map<HeldLease, string>()
      const reads: Promise<void>[] = []
      let bytes = 0
      for (const lease of granted) {
        if (!mayBeReference(lease.input) || isEnding(lease)) continue
        bytes += readReference(lease.runId, lease.input)?.bytes ?? 0
        if (reads.length > 0 && bytes > ANSWER_BYTES) break
        reads.push(readOne(lease, inputs))
      }
      await Promise.all(reads)
      return inputs
    },
  }
}
