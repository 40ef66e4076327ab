import { FatalStoreError } from '../connection/store-errors.ts'

/** Shared by all connections to a file: damage found by one of them stops the others too. */
export interface SqliteHealth {
  readonly hasFailed: boolean
  lose(error: FatalStoreError): void
  /** Throws the reason once the store has failed. */
  require(): void
}

export function createHealth(onLost: (error: FatalStoreError) => void): SqliteHealth {
  let reason: FatalStoreError | undefined
  return {
    get hasFailed() {
      return reason !== undefined
    },
    lose(error) {
      if (reason) return
      reason = error
      onLost(error)
    },
    require() {
      if (!reason) return
      const { message, trouble } = reason
      const text = `the store stopped: ${message}`
      throw new FatalStoreError('unavailable', text, { cause: reason, trouble })
    },
  }
}
