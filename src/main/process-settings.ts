import { PunctualError } from '../core/errors.ts'
import { type LimitBound, readBound } from '../core/work/limit-bounds.ts'
import { LIMITS, USER_NAME } from '../core/limits.ts'
import { isLimitName, LIMIT_NAMES, type LimitName } from '../core/work/work-limits.ts'
import type { ProcessOptions } from '../worker/index.ts'
import type { Refusals } from './setting-errors.ts'

/** What an operator says of the processes a worker starts, as flags, variables and files give it. */
export interface GivenProcessSettings {
  readonly limit?: readonly string[] | undefined
  readonly allowUser?: readonly string[] | undefined
  readonly runAs?: string | undefined
  readonly allowRoot?: boolean | undefined
  readonly launcher?: string | undefined
  readonly containment?: string | undefined
}

export type ProcessSettings = Pick<
  ProcessOptions,
  'limits' | 'allowUsers' | 'runAs' | 'allowRoot' | 'launcher' | 'containment'
>

export const LAUNCHERS = ['auto', 'native', 'node'] as const
export const CONTAINMENTS = ['auto', 'pidns', 'cgroup', 'group'] as const

export function readProcessSettings(
  given: GivenProcessSettings,
  refusals: Refusals,
): ProcessSettings {
  const { runAs } = given
  if (runAs !== undefined && !USER_NAME.test(runAs)) {
    refusals.add('run-as', `"${runAs}" is not the name of a user`)
  }
  return {
    limits: readBounds(given.limit ?? [], refusals),
    allowUsers: readUsers(given.allowUser ?? [], refusals),
    runAs,
    allowRoot: given.allowRoot,
    launcher: choose('launcher', given.launcher, LAUNCHERS, refusals),
    containment: choose('containment', given.containment, CONTAINMENTS, refusals),
  }
}

export function processSettingsIn(env: NodeJS.ProcessEnv): GivenProcessSettings {
  // An empty variable is one that somebody wanted to leave out.
  const text = (name: string) => env[name] || undefined
  return {
    limit: text('PUNCTUAL_LIMIT')?.split(','),
    allowUser: text('PUNCTUAL_ALLOW_USER')?.split(','),
    runAs: text('PUNCTUAL_RUN_AS'),
    allowRoot: ['1', 'true'].includes(env['PUNCTUAL_ALLOW_ROOT'] ?? '') || undefined,
    launcher: text('PUNCTUAL_LAUNCHER'),
    containment: text('PUNCTUAL_CONTAINMENT'),
  }
}

function readBounds(words: readonly string[], refusals: Refusals) {
  const bounds: Partial<Record<LimitName, LimitBound>> = {}
  for (const word of words) {
    const at = word.indexOf('=')
    const name = word.slice(0, Math.max(0, at))
    if (isLimitName(name)) addBound(bounds, name, word.slice(at + 1), refusals)
    else refusals.add('limit', `"${word}" is not NAME=VALUE with one of ${LIMIT_NAMES.join(', ')}`)
  }
  return bounds
}

function addBound(
  bounds: Partial<Record<LimitName, LimitBound>>,
  name: LimitName,
  text: string,
  refusals: Refusals,
): void {
  if (bounds[name]) refusals.add('limit', `names ${name} twice`)
  try {
    bounds[name] = readBound(name, text, `limit ${name}`)
  } catch (error) {
    if (!(error instanceof PunctualError)) throw error
    refusals.add('limit', error.message.replace(/^limit /, ''))
  }
}

function readUsers(lists: readonly string[], refusals: Refusals): string[] {
  const names = lists.flatMap((list) => list.split(','))
  for (const name of names) {
    if (!USER_NAME.test(name)) refusals.add('allow-user', `"${name}" is not the name of a user`)
  }
  if (names.length > LIMITS.users) {
    refusals.add('allow-user', `names ${names.length} users; at most ${LIMITS.users} are possible`)
  }
  return names
}

function choose<const Word extends string>(
  field: string,
  text: string | undefined,
  words: readonly Word[],
  refusals: Refusals,
): Word | undefined {
  const known = words.find((word) => word === text)
  if (text !== undefined && known === undefined) {
    refusals.add(field, `"${text}" is not one of ${words.join(', ')}`)
  }
  return known
}
