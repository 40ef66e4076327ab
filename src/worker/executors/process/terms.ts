import { applyBounds } from '../../../core/work/limit-bounds.ts'
import type { Work } from '../../../core/work/work.ts'
import {
  type LimitName,
  limitOf,
  showLimit,
  type WorkLimits,
} from '../../../core/work/work-limits.ts'
import type { Abilities, Limits, User } from '../../launcher/messages.ts'
import type { Host } from './host.ts'
import type { LocalUser } from './local-users.ts'

/** On which terms a command is run. */
export interface Terms {
  readonly user: LocalUser | undefined
  /** For the launcher: only if it is somebody other than the worker. */
  readonly switchTo: User | undefined
  readonly limits: WorkLimits
  /** The part of them that the launcher holds the command to. */
  readonly launcherLimits: Limits | undefined
  /** For the log of the attempt. */
  readonly remarks: readonly string[]
}

/** Either the terms, or a sentence that says what this worker cannot do and what would help. */
export function termsOf(work: Work, host: Host): Terms | { readonly refused: string } {
  const name = work.run_as ?? host.usualUser
  const user = name === undefined ? undefined : host.users.get(name)
  if (name !== undefined && !user) {
    return { refused: `this worker does not allow ${name}: start it with --allow-user ${name}` }
  }
  const switchTo = user && user.uid !== host.uid ? numbersOf(user) : undefined
  if (switchTo && !host.abilities.canSwitchUser) {
    return { refused: `this worker cannot run anything as ${name}: ${whyNot(host.abilities)}` }
  }
  const { limits, remarks } = applyBounds(work.limits, host.bounds)
  const beyond = unenforceable(limits, host.abilities)
  if (beyond !== undefined) {
    const asked = `${beyond} of ${showLimit(beyond, limitOf(limits, beyond) as number)}`
    const why = whyNot(host.abilities)
    return { refused: `this worker cannot hold a command to a limit of ${asked}: ${why}` }
  }
  return { user, switchTo, limits, launcherLimits: launcherLimitsOf(limits), remarks }
}

/** The first limit that could only be promised, not kept. */
export function unenforceable(limits: WorkLimits, abilities: Abilities): LimitName | undefined {
  return LAUNCHER_LIMITS.find(
    (name) => limitOf(limits, name) !== undefined && !abilities.limits.includes(name),
  )
}

/** The others are kept by the worker itself. */
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
