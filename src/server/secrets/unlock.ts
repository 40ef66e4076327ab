import { decodePolicy } from '../../core/run/run-policy.ts'
import type { GivenSecret } from '../../core/work/secret.ts'
import type { HeldLease } from '../sessions/session.ts'
import type { Revealed, Vault } from './vault.ts'

/** The secrets of those that have some; `refused` where one is missing. */
export type Unlocked = ReadonlyMap<HeldLease, readonly GivenSecret[] | 'refused'>

/**
 * Opens the secrets that granted runs ask for, as they are now. A run whose secrets cannot be had is
 * over: nobody could start it. One that only this node cannot open is for another node.
 */
export function createUnlock({
  vault,
  isEnding,
  fail,
  stepAside,
}: {
  readonly vault: Pick<Vault, 'reveal'>
  /** Its end is on the way to the store already. */
  isEnding(lease: HeldLease): boolean
  fail(lease: HeldLease, message: string): void
  /** Gives these back and takes no more. */
  stepAside(leases: readonly HeldLease[]): void
}) {
  return async (granted: readonly HeldLease[]): Promise<Unlocked> => {
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
    if (elsewhere.length > 0) stepAside(elsewhere)
    const refused = [...problems.keys(), ...keyless].map((lease) => [lease, 'refused'] as const)
    return new Map<HeldLease, readonly GivenSecret[] | 'refused'>([...given, ...refused])
  }
}

const NOTHING: Unlocked = new Map()

const PROBLEMS = {
  absent: (name: string) => `the secret ${name} was deleted before the run started`,
  unreadable: (name: string) =>
    `the secret ${name} cannot be opened: its key is missing, or it was changed in the database`,
}
