import { PunctualError } from '../../../core/errors.ts'
import type { Execution } from '../../../core/worker/execution.ts'
import { applyBounds, type LimitBounds } from '../../../core/work/limit-bounds.ts'
import type { Abilities } from '../../launcher/messages.ts'
import type { LocalUser } from './local-users.ts'
import { unenforceable, whyNot } from './terms.ts'

/** What a worker's operator allows, and what its machine can do. */
export interface Host {
  readonly bounds: LimitBounds
  readonly users: ReadonlyMap<string, LocalUser>
  /** Whom processes run as that name nobody; the worker's own user if absent. */
  readonly usualUser: string | undefined
  readonly abilities: Abilities
  /** The worker's own user, where users have numbers. */
  readonly uid: number | undefined
  /** Its operator has said that commands may run as root. */
  readonly isRootMeant: boolean
}

/** A worker that cannot keep to what its operator says does not start. */
export function refuseHost({ bounds, users, abilities, uid }: Host): PunctualError | undefined {
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

/** Its own limits hold everywhere; those of the launcher where the launcher says so. */
const OWN_LIMITS = ['output', 'tmp'] as const
const WHY_LENGTH = 500

export function introduce(
  { abilities, uid, usualUser, isRootMeant }: Host,
  users: readonly string[],
) {
  const { kind, containment, limits, why } = abilities
  const execution: Execution = {
    launcher: kind,
    containment,
    limits: [...limits, ...OWN_LIMITS],
    ...(uid === 0 && usualUser === undefined && !isRootMeant && { root: true }),
    ...(why === '' ? {} : { why: why.slice(0, WHY_LENGTH) }),
  }
  return { users: [...new Set(users)], execution }
}
