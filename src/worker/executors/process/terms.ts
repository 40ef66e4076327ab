import { applyBounds } from '../../../core/work/limit-bounds.ts'
import type { Work } from '../../../core/work/work.ts'
import {
  type LimitName,
  limitOf,
  showLimit,
  type WorkLimits,
} from '../../../core/work/work-limits.ts'
import type { Abilities, Limits, User } from '../../launcher/messages.ts'
import type { ExecutionHost } from './host.ts'
import type { LocalUser } from './local-users.ts'

/** The user and the limits a command runs with. */
export interface Terms {
  readonly user: LocalUser | undefined
  /** For the launcher: only if it is not the worker's own user. */
  readonly switchTo: User | undefined
  readonly limits: WorkLimits
  /** The limits that the launcher enforces. */
  readonly launcherLimits: Limits | undefined
  /** Lines for the log of the attempt. */
  readonly messages: readonly string[]
}

/** Either the terms, or a message that says what this worker cannot do and what would help. */
export function termsOf(work: Work, host: ExecutionHost): Terms | { readonly refused: string } {
  const name = work.run_as ?? host.defaultUser
  const user = name === undefined ? undefined : host.users.get(name)
  if (name !== undefined && !user) {
    return { refused: `this worker does not allow ${name}: start it with --allow-user ${name}` }
  }
  const switchTo = user && user.uid !== host.uid ? numbersOf(user) : undefined
  if (switchTo && !host.abilities.canSwitchUser) {
    return { refused: `this worker cannot run anything as ${name}: ${whyNot(host.abilities)}` }
  }
  const { limits, messages } = applyBounds(work.limits, host.bounds)
  const unsupported = unenforceable(limits, host.abilities)
  if (unsupported !== undefined) {
    const asked = `${unsupported} of ${showLimit(unsupported, limitOf(limits, unsupported) as number)}`
    const why = whyNot(host.abilities)
    return { refused: `this worker cannot hold a command to a limit of ${asked}: ${why}` }
  }
  return { user, switchTo, limits, launcherLimits: launcherLimitsOf(limits), messages }
}

/** The first limit that this worker cannot enforce. */
export function unenforceable(limits: WorkLimits, abilities: Abilities): LimitName | undefined {
  return LAUNCHER_LIMITS.find(
    (name) => limitOf(limits, name) !== undefined && !abilities.limits.includes(name),
  )
}

/** The worker itself enforces the others. */
export const LAUNCHER_LIMITS = ['memory', 'cpu', 'pids', 'files'] as const

function launcherLimitsOf({ memory_bytes, cpu, pids, files }: WorkLimits): Limits | undefined {
  const limits = {
    ...(memory_bytes === undefined ? {} : { memoryBytes: memory_bytes }),
    ...(cpu === undefined ? {} : { cpu }),
    ...(pids === undefined ? {} : { pids }),
    ...(files === undefined ? {} : { files }),
  }
  return Object.keys(limits).length === 0 ? undefined : limits
}

function numbersOf({ uid, gid, groups }: LocalUser): User {
  return { uid, gid, groups }
}

export function whyNot({ why }: Abilities): string {
  return why === '' ? 'its launcher has no way to' : why
}
