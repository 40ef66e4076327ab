import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { PunctualError } from '../core/errors.ts'

/** What a server is told at its start. Everything has a default. */
export interface Settings {
  readonly host: string
  readonly port: number
  readonly dataDir: string
  readonly store: string
  readonly slots: number
  /** Callers on this machine need no token. */
  readonly isOpen: boolean
  readonly allowHosts: readonly string[]
  readonly tls: { readonly cert: string; readonly key: string } | undefined
}

/** As flags, environment and file give them: all text, all optional. */
export interface GivenSettings {
  readonly listen?: string | undefined
  readonly port?: string | undefined
  readonly data?: string | undefined
  readonly store?: string | undefined
  readonly slots?: string | undefined
  readonly open?: boolean | undefined
  readonly allowHost?: readonly string[] | undefined
  readonly tlsCert?: string | undefined
  readonly tlsKey?: string | undefined
}

const DEFAULT_PORT = 7420
const DEFAULT_SLOTS = 8
const FILE = 'config.json'
const FILE_KEYS = ['listen', 'port', 'store', 'slots', 'open', 'allowHost', 'tlsCert', 'tlsKey']

/** Flags win over `PUNCTUAL_*` variables, which win over the file, which wins over the defaults. */
export function readSettings(flags: GivenSettings, env: NodeJS.ProcessEnv): Settings {
  const dataDir = flags.data ?? env['PUNCTUAL_DATA'] ?? '.punctual'
  const file = readFile(join(dataDir, FILE))
  const given: GivenSettings = { ...file, ...definedOf(fromEnvironment(env)), ...definedOf(flags) }
  const { host, port } = parseListen(given)
  const isOpen = given.open ?? false
  if (isOpen && !isLoopback(host)) {
    throw invalid('open', `cannot be used with ${host}: others could reach it without a token`)
  }
  return {
    host,
    port,
    dataDir,
    store: given.store ?? `sqlite:${dataDir}/punctual.db`,
    slots: count(given.slots, 'slots') ?? DEFAULT_SLOTS,
    isOpen,
    allowHosts: [...(given.allowHost ?? []), ...(isLoopback(host) ? [] : ownNames(host))],
    tls: readTls(given),
  }
}

function fromEnvironment(env: NodeJS.ProcessEnv): GivenSettings {
  const open = env['PUNCTUAL_OPEN']
  return {
    listen: env['PUNCTUAL_LISTEN'],
    port: env['PUNCTUAL_PORT'],
    store: env['PUNCTUAL_STORE'],
    slots: env['PUNCTUAL_SLOTS'],
    open: open === undefined ? undefined : open === '1' || open === 'true',
    allowHost: env['PUNCTUAL_ALLOW_HOST']?.split(','),
    tlsCert: env['PUNCTUAL_TLS_CERT'],
    tlsKey: env['PUNCTUAL_TLS_KEY'],
  }
}

function readFile(path: string): GivenSettings {
  if (!existsSync(path)) return {}
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw invalid(path, `is not JSON: ${(error as Error).message}`)
  }
  if (typeof value !== 'object' || value === null) throw invalid(path, 'is not an object')
  for (const key of Object.keys(value)) {
    if (!FILE_KEYS.includes(key)) {
      throw invalid(path, `has the setting "${key}"; settings are ${FILE_KEYS.join(', ')}`)
    }
  }
  const { port, slots, ...rest } = value as GivenSettings & { port?: number; slots?: number }
  return {
    ...rest,
    ...(port === undefined ? {} : { port: String(port) }),
    ...(slots === undefined ? {} : { slots: String(slots) }),
  }
}

function definedOf(settings: GivenSettings): GivenSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

function parseListen({ listen, port }: GivenSettings): { host: string; port: number } {
  if (listen === undefined) return { host: '127.0.0.1', port: readPort(port) }
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(listen)
  const host = match?.[1] ?? match?.[2] ?? ''
  if (!match) throw invalid('listen', `"${listen}" is not HOST:PORT`)
  return { host, port: readPort(port ?? match[3]) }
}

function readPort(text: string | undefined): number {
  const port = text === undefined ? DEFAULT_PORT : Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw invalid('port', `"${text}" is not a port`)
}

function count(text: string | undefined, field: string): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (Number.isInteger(number) && number >= 0 && number <= 10_000) return number
  throw invalid(field, `"${text}" is not a whole number from 0 to 10000`)
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Names by which others may rightly call a server that listens beyond its own machine. */
function ownNames(host: string): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const shown = addresses.map(({ address, family }) =>
    family === 'IPv6' ? `[${address}]` : address,
  )
  return [host, hostname(), ...shown]
}

function readTls({ tlsCert, tlsKey }: GivenSettings): Settings['tls'] {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined) {
    throw invalid('tls-cert', 'and tls-key belong together')
  }
  return { cert: tlsCert, key: tlsKey }
}

function invalid(field: string, what: string): PunctualError {
  return new PunctualError('config_invalid', `${field} ${what}`, { field })
}
