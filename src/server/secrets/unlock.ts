import { decodePolicy } from '../../core/run/run-policy.ts'
import type { GivenSecret } from '../../core/secrets/secret.ts'
import type { HeldLease } from '../sessions/session.ts'
import type { Revealed, Vault } from './vault.ts'

/** The secrets of the leases that need some; `refused` where one is missing. */
export type Unlocked = ReadonlyMap<HeldLease, readonly GivenSecret[] | 'refused'>

/** Secrets of granted runs. */
export interface SecretUnlocker {
  /**
   * Decrypts the current secrets. A run whose secrets are unavailable is ended, because it cannot be
   * started. If only this node lacks the key, the run is left to another node.
   */
  unlock(granted: readonly HeldLease[]): Promise<Unlocked>
}

export function createSecretUnlocker({
  vault,
  isEnding,
  fail,
  leaveCluster,
}: {
  readonly vault: Pick<Vault, 'reveal'>
  /** The end of the lease is already on its way to the store. */
  isEnding(lease: HeldLease): boolean
  fail(lease: HeldLease, message: string): void
  /** Returns these leases; the node then takes no more work. */
  leaveCluster(leases: readonly HeldLease[]): void
}): SecretUnlocker {
  return {
    async unlock(granted) {
      const wanted = granted.flatMap((lease) =>
        decodePolicy(lease.policy).secrets.map((use) => ({ lease, use })),
      )
      if (wanted.length === 0) return NOTHING
      const names = wanted.map(({ lease: { projectId }, use: { name } }) => ({ projectId, name }))
      const revealed = await vault.reveal(names)
      const given = new Map<HeldLease, GivenSecret[]>()
      const problems = new Map<HeldLease, string>()
      const keyless = new Set<HeldLease>()
      for (const [index, { lease, use }] of wanted.entries()) {
        const found = revealed[index] as Revealed
        if (found.kind === 'keyless') keyless.add(lease)
        else if (found.kind !== 'value') problems.set(lease, PROBLEMS[found.kind](use.name))
        else given.set(lease, [...(given.get(lease) ?? []), { ...use, value: found.value }])
      }
      for (const [lease, problem] of problems) if (!isEnding(lease)) fail(lease, problem)
      const elsewhere = [...keyless].filter((lease) => !problems.has(lease) && !isEnding(lease))
      if (elsewhere.length > 0) leaveCluster(elsewhere)
      const refused = [...problems.keys(), ...keyless].map((lease) => [lease, 'refused'] as const)
      return new Map<HeldLease, readonly GivenSecret[] | 'refused'>([...given, ...refused])
    },
  }
}

const NOTHING: Unlocked = new Map()

const PROBLEMS = {
  absent: (name: string) => `the secret ${name} was deleted before the run started`,
  unreadable: (name: string) =>
    `the secret ${name} cannot be opened: its key is missing, or it was changed in the database`,
}
