/** The name of the project secret that signs the calls of a hook: `HOOK_ORDERS_READY`. */
export function hookSecretName(name: string): string {
  return `HOOK_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`
}

/**
 * Maximum difference between the caller's clock and the server's. After this time an intercepted call can no longer
 * be replayed.
 */
export const HOOK_TOLERANCE_MS = 5 * 60_000

/** A run created by a hook call. */
export interface WireHookRun {
  readonly job: string
  readonly id: string
  /** False if the same call was received before. */
  readonly created: boolean
}
