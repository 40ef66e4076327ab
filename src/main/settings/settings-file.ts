import { readFileSync } from 'node:fs'
import { nearestName } from '../../core/text/nearest.ts'
import type { SettingErrors } from './setting-errors.ts'
import type { GivenSettings } from './settings.ts'

type Type = 'a text' | 'a number' | 'true or false' | 'a list of texts'

const TYPES: Readonly<Record<Exclude<keyof GivenSettings, 'data'>, Type>> = {
  listen: 'a text',
  port: 'a number',
  store: 'a text',
  blobs: 'a text',
  inlineLimit: 'a text',
  plainTtl: 'a text',
  plainEmpty: 'a text',
  workerProtocol: 'a number',
  slots: 'a number',
  open: 'true or false',
  allowHost: 'a list of texts',
  allowAddress: 'a list of texts',
  tlsCert: 'a text',
  tlsKey: 'a text',
  limit: 'a list of texts',
  allowUser: 'a list of texts',
  runAs: 'a text',
  allowRoot: 'true or false',
  launcher: 'a text',
  containment: 'a text',
  secretKey: 'a text',
  logFormat: 'a text',
}

/** Reads the settings file. A missing file means no settings. */
export function readSettingsFile(path: string, settingErrors: SettingErrors): GivenSettings {
  const value = readJson(path, settingErrors)
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    settingErrors.add(path, 'is not a JSON object')
    return {}
  }
  const given: Record<string, unknown> = {}
  for (const [key, one] of Object.entries(value)) {
    if (!isKnown(key)) settingErrors.add(path, `has the setting "${key}"; ${meant(key)}`)
    else if (!isOf(TYPES[key], one)) settingErrors.add(path, `needs ${TYPES[key]} for "${key}"`)
    // Numbers are converted to text, so that flags, variables and the file share one set of checks.
    else given[key] = typeof one === 'number' ? String(one) : one
  }
  return given
}

function readJson(path: string, settingErrors: SettingErrors): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // ENOTDIR is reported when the directory is opened.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    const what = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read'
    settingErrors.add(path, `${what}: ${message}`)
    return undefined
  }
}

function isKnown(key: string): key is keyof typeof TYPES {
  return Object.hasOwn(TYPES, key)
}

function meant(key: string): string {
  const known = Object.keys(TYPES)
  const nearest = nearestName(key, known)
  return nearest === undefined ? `settings are ${known.join(', ')}` : `did you mean "${nearest}"?`
}

function isOf(type: Type, value: unknown): boolean {
  switch (type) {
    case 'a text':
      return typeof value === 'string'
    case 'a number':
      return typeof value === 'number'
    case 'true or false':
      return typeof value === 'boolean'
    case 'a list of texts':
      return Array.isArray(value) && value.every((one) => typeof one === 'string')
  }
}
