import { PunctualError } from '../../core/errors.ts'
import { type LimitBound, readBound } from '../../core/work/limit-bounds.ts'
import { LIMITS, USER_NAME } from '../../core/limits.ts'
import { isLimitName, LIMIT_NAMES, type LimitName } from '../../core/work/work-limits.ts'
import type { ProcessOptions } from '../../worker/index.ts'
import type { SettingErrors } from './setting-errors.ts'

/** The operator's settings for processes, from flags, variables and files. */
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
  settingErrors: SettingErrors,
): ProcessSettings {
  const { runAs } = given
  if (runAs !== undefined && !USER_NAME.test(runAs)) {
    settingErrors.add('run-as', `"${runAs}" is not the name of a user`)
  }
  return {
    limits: readBounds(given.limit ?? [], settingErrors),
    allowUsers: readUsers(given.allowUser ?? [], settingErrors),
    runAs,
    allowRoot: given.allowRoot,
    launcher: choose('launcher', given.launcher, LAUNCHERS, settingErrors),
    containment: choose('containment', given.containment, CONTAINMENTS, settingErrors),
  }
}

export function processSettingsIn(env: NodeJS.ProcessEnv): GivenProcessSettings {
  // An empty variable counts as unset.
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

function readBounds(words: readonly string[], settingErrors: SettingErrors) {
  const bounds: Partial<Record<LimitName, LimitBound>> = {}
  for (const word of words) {
    const at = word.indexOf('=')
    const name = word.slice(0, Math.max(0, at))
    if (isLimitName(name)) addBound(bounds, name, word.slice(at + 1), settingErrors)
    else
      settingErrors.add(
        'limit',
        `"${word}" is not NAME=VALUE with one of ${LIMIT_NAMES.join(', ')}`,
      )
  }
  return bounds
}

function addBound(
  bounds: Partial<Record<LimitName, LimitBound>>,
  name: LimitName,
  text: string,
  settingErrors: SettingErrors,
): void {
  if (bounds[name]) settingErrors.add('limit', `names ${name} twice`)
  try {
    bounds[name] = readBound(name, text, `limit ${name}`)
  } catch (error) {
    if (!(error instanceof PunctualError)) throw error
    settingErrors.add('limit', error.message.replace(/^limit /, ''))
  }
}

function readUsers(lists: readonly string[], settingErrors: SettingErrors): string[] {
  const names = lists.flatMap((list) => list.split(','))
  for (const name of names) {
    if (!USER_NAME.test(name))
      settingErrors.add('allow-user', `"${name}" is not the name of a user`)
  }
  if (names.length > LIMITS.users) {
    settingErrors.add(
      'allow-user',
      `names ${names.length} users; at most ${LIMITS.users} are possible`,
    )
  }
  return names
}

function choose<const Word extends string>(
  field: string,
  text: string | undefined,
  words: readonly Word[],
  settingErrors: SettingErrors,
): Word | undefined {
  const known = words.find((word) => word === text)
  if (text !== undefined && known === undefined) {
    settingErrors.add(field, `"${text}" is not one of ${words.join(', ')}`)
  }
  return known
}
