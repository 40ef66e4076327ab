/** The secret of the project that calls of a hook are signed with: `HOOK_ORDERS_READY`. */
export function hookSecret(name: string): string {
  return `HOOK_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`
}

/** How far the clock of whoever calls may be from ours: a call that was overheard is worthless after that. */
export const HOOK_TOLERANCE_MS = 5 * 60_000

/** A run that a call of a hook led to. */
export interface WireHookRun {
  readonly job: string
  readonly id: string
  /** False if the same call came before. */
  readonly created: boolean
}
