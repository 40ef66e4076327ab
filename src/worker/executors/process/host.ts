import { PunctualError } from '../../../core/errors.ts'
import type { Execution } from '../../../core/worker/execution.ts'
import { applyBounds, type LimitBounds } from '../../../core/work/limit-bounds.ts'
import type { Abilities } from '../../launcher/messages.ts'
import type { LocalUser } from './local-users.ts'
import { unenforceable, whyNot } from './terms.ts'

/** What a worker's operator allows, and what its machine can do. */
export interface ExecutionHost {
  readonly bounds: LimitBounds
  readonly users: ReadonlyMap<string, LocalUser>
  /** The user for processes that request none; the worker's own user if absent. */
  readonly defaultUser: string | undefined
  readonly abilities: Abilities
  /** Where secret files are kept: see `Execution`. */
  readonly secretFiles: 'private' | 'memory' | 'disk'
  /** The worker's own user id, on platforms that have user ids. */
  readonly uid: number | undefined
  /** The operator has confirmed that commands may run as root. */
  readonly isRootAllowed: boolean
}

/** A worker that cannot enforce its operator's settings does not start. */
export function checkHost({
  bounds,
  users,
  abilities,
  uid,
}: ExecutionHost): PunctualError | undefined {
  const limit = unenforceable(applyBounds(undefined, bounds).limits, abilities)
  if (limit !== undefined) {
    const message = `the limit of ${limit} cannot be kept here: ${whyNot(abilities)}`
    return new PunctualError('config_invalid', message, { field: 'limit' })
  }
  const other = [...users.values()].find((user) => user.uid !== uid)
  if (!other || abilities.canSwitchUser) return undefined
  const message = `nothing can be run as ${other.name} here: ${whyNot(abilities)}`
  return new PunctualError('config_invalid', message, { field: 'allow-user' })
}

/** Limits that the worker enforces itself on every machine; the others depend on the launcher. */
const OWN_LIMITS = ['output', 'tmp'] as const
const WHY_LENGTH = 500

export function advertise(
  { abilities, uid, defaultUser, isRootAllowed, secretFiles }: ExecutionHost,
  users: readonly string[],
) {
  const { kind, containment, limits, why } = abilities
  const execution: Execution = {
    launcher: kind,
    containment,
    limits: [...limits, ...OWN_LIMITS],
    secret_files: secretFiles,
    ...(uid === 0 && defaultUser === undefined && !isRootAllowed && { root: true }),
    ...(why === '' ? {} : { why: why.slice(0, WHY_LENGTH) }),
  }
  return { users: [...new Set(users)], execution }
}
