import { readFileSync } from 'node:fs'
import { nearestName } from '../core/text/nearest.ts'
import type { Refusals } from './setting-errors.ts'
import type { GivenSettings } from './settings.ts'

type Type = 'a text' | 'a number' | 'true or false' | 'a list of texts'

const TYPES: Readonly<Record<Exclude<keyof GivenSettings, 'data'>, Type>> = {
  listen: 'a text',
  port: 'a number',
  store: 'a text',
  blobs: 'a text',
  inlineLimit: 'a text',
  plainTtl: 'a text',
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
}

/** Settings that outlive a command line. A file that is not there says nothing. */
export function readSettingsFile(path: string, refusals: Refusals): GivenSettings {
  const value = readJson(path, refusals)
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    refusals.add(path, 'is not a JSON object')
    return {}
  }
  const given: Record<string, unknown> = {}
  for (const [key, one] of Object.entries(value)) {
    if (!isKnown(key)) refusals.add(path, `has the setting "${key}"; ${meant(key)}`)
    else if (!isOf(TYPES[key], one)) refusals.add(path, `needs ${TYPES[key]} for "${key}"`)
    // Numbers go the way that flags and variables go, so that there is one set of limits.
    else given[key] = typeof one === 'number' ? String(one) : one
  }
  return given
}

function readJson(path: string, refusals: Refusals): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    const what = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read'
    refusals.add(path, `${what}: ${message}`)
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
