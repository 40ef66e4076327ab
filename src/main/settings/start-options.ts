import type { ParseArgsOptionDescriptor } from 'node:util'
import type { GivenSettings } from './settings.ts'

/** `plainTtl` is `--plain-ttl`. */
type Flag<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Flag<Rest>}`
  : Name

const text = { type: 'string' } as const
const texts = { type: 'string', multiple: true } as const
const yes = { type: 'boolean' } as const

/**
 * Every setting of `punctual up` as a flag of `npm start`; the type ensures that none is missing.
 */
export const START_OPTIONS = {
  listen: text,
  port: text,
  data: text,
  store: text,
  blobs: text,
  'inline-limit': text,
  'plain-ttl': text,
  'plain-empty': text,
  'worker-protocol': text,
  slots: text,
  open: yes,
  'allow-host': texts,
  'allow-address': texts,
  'tls-cert': text,
  'tls-key': text,
  limit: texts,
  'allow-user': texts,
  'run-as': text,
  'allow-root': yes,
  launcher: text,
  containment: text,
  'secret-key': text,
  'log-format': text,
} satisfies Readonly<Record<Flag<keyof GivenSettings>, ParseArgsOptionDescriptor>>

/** Maps flags as parsed by `parseArgs` to the names of settings. */
export function settingsOfFlags(values: Readonly<Record<string, unknown>>): GivenSettings {
  return Object.fromEntries(
    Object.entries(values).map(([flag, value]) => [
      flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  )
}
