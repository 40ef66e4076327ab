import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { parseDuration } from '../core/text/duration.ts'
import { LIMITS } from '../core/limits.ts'
import { parseSize } from '../core/text/size.ts'
import { BLOB_PLACES, type BlobPlace, usualPlace } from './open-blobs.ts'
import { parseAllowList } from '../outbound/allow-list.ts'
import { DEFAULT_CONFIG } from '../server/cluster/config.ts'
import { isStoreUrl } from './open-store.ts'
import {
  type GivenProcessSettings,
  type ProcessSettings,
  processSettingsIn,
  readProcessSettings,
} from './process-settings.ts'
import { collectRefusals, type Refusals } from './setting-errors.ts'
import { readSettingsFile } from './settings-file.ts'
import { readTlsFiles, type TlsFiles } from './tls-files.ts'

/** What a server is told at its start. Everything has a default. */
export interface Settings {
  readonly host: string
  readonly port: number
  readonly dataDir: string
  readonly store: string
  /** Where inputs and results are kept that are larger than `inlineBytes`. */
  readonly blobs: BlobPlace
  readonly inlineBytes: number
  /** How long a worker of the plain protocol may be silent. */
  readonly plainTtlMs: number
  readonly slots: number
  /** Callers on this machine need no token. */
  readonly isOpen: boolean
  readonly allowHosts: readonly string[]
  /** Where requests on behalf of users may go besides the public internet. */
  readonly allowAddresses: readonly string[]
  readonly tls: TlsFiles | undefined
  /** Of its worker. */
  readonly processes: ProcessSettings
  /** The file with the keys of secrets, if it is not the usual one. */
  readonly secretKey: string | undefined
}

/** As flags, environment and file give them: all text, all optional. */
export interface GivenSettings extends GivenProcessSettings {
  readonly listen?: string | undefined
  readonly port?: string | undefined
  readonly data?: string | undefined
  readonly store?: string | undefined
  readonly blobs?: string | undefined
  readonly inlineLimit?: string | undefined
  readonly plainTtl?: string | undefined
  readonly slots?: string | undefined
  readonly open?: boolean | undefined
  readonly allowHost?: readonly string[] | undefined
  readonly allowAddress?: readonly string[] | undefined
  readonly tlsCert?: string | undefined
  readonly tlsKey?: string | undefined
  readonly secretKey?: string | undefined
}

const DEFAULT_PORT = 7420
const DEFAULT_SLOTS = 8
const MOST_SLOTS = 10_000
const FILE = 'config.json'

/** Flags win over `PUNCTUAL_*` variables, which win over the file, which wins over the defaults. */
export function readSettings(flags: GivenSettings, env: NodeJS.ProcessEnv): Settings {
  const refusals = collectRefusals()
  const dataDir = flags.data ?? (env['PUNCTUAL_DATA'] || '.punctual')
  const file = readSettingsFile(join(dataDir, FILE), refusals)
  const given = [fromEnvironment(env, refusals), flags].reduce(over, file)
  const { host, port } = parseListen(given, refusals)
  const isOpen = given.open ?? false
  if (isOpen && !isLoopback(host)) {
    refusals.add('open', `cannot be used with ${host}: others could reach it without a token`)
  }
  const store = readStore(given.store, refusals) ?? `sqlite:${dataDir}/punctual.db`
  const settings = {
    host,
    port,
    dataDir,
    store,
    blobs: readPlace(given.blobs, refusals) ?? usualPlace(store),
    inlineBytes: readInlineLimit(given.inlineLimit, refusals) ?? LIMITS.inlineBytes,
    plainTtlMs: readPlainTtl(given.plainTtl, refusals) ?? DEFAULT_CONFIG.plainTtlMs,
    slots: count(given.slots, refusals) ?? DEFAULT_SLOTS,
    isOpen,
    allowHosts: [...(given.allowHost ?? []), ...(isLoopback(host) ? [] : ownNames(host))],
    allowAddresses: readAllowed(given.allowAddress ?? [], refusals),
    tls: readTlsFiles(given.tlsCert, given.tlsKey, refusals),
    processes: readProcessSettings(given, refusals),
    secretKey: given.secretKey,
  }
  refusals.throwIfAny()
  return settings
}

/** An empty variable is one that somebody wanted to leave out. */
function fromEnvironment(env: NodeJS.ProcessEnv, refusals: Refusals): GivenSettings {
  const text = (name: string) => env[name] || undefined
  return {
    listen: text('PUNCTUAL_LISTEN'),
    port: text('PUNCTUAL_PORT'),
    store: text('PUNCTUAL_STORE'),
    blobs: text('PUNCTUAL_BLOBS'),
    inlineLimit: text('PUNCTUAL_INLINE_LIMIT'),
    plainTtl: text('PUNCTUAL_PLAIN_TTL'),
    slots: text('PUNCTUAL_SLOTS'),
    open: readSwitch('PUNCTUAL_OPEN', text('PUNCTUAL_OPEN'), refusals),
    allowHost: text('PUNCTUAL_ALLOW_HOST')?.split(','),
    allowAddress: text('PUNCTUAL_ALLOW_ADDRESS')?.split(','),
    tlsCert: text('PUNCTUAL_TLS_CERT'),
    tlsKey: text('PUNCTUAL_TLS_KEY'),
    ...processSettingsIn(env),
    secretKey: text('PUNCTUAL_SECRET_KEY_FILE'),
  }
}

function readSwitch(name: string, text: string | undefined, refusals: Refusals) {
  if (text === undefined) return undefined
  if (text === '1' || text === 'true') return true
  if (text !== '0' && text !== 'false') refusals.add(name, `is "${text}" and not true or false`)
  return false
}

/** What the stronger says, and what only the weaker says. An address brings its own port. */
function over(weaker: GivenSettings, stronger: GivenSettings): GivenSettings {
  const said = Object.entries(stronger).filter(([, value]) => value !== undefined)
  const { port: _port, ...withoutPort } = weaker
  return {
    ...(stronger.listen === undefined ? weaker : withoutPort),
    ...Object.fromEntries(said),
  }
}

function parseListen({ listen, port }: GivenSettings, refusals: Refusals) {
  if (listen === undefined) return { host: '127.0.0.1', port: readPort(port, refusals) }
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(listen)
  if (!match) refusals.add('listen', `"${listen}" is not HOST:PORT`)
  const host = match?.[1] ?? match?.[2] ?? '127.0.0.1'
  return { host, port: readPort(port ?? match?.[3], refusals) }
}

function readPort(text: string | undefined, refusals: Refusals): number {
  if (text === undefined) return DEFAULT_PORT
  if (!isWhole(text, 65_535)) refusals.add('port', `"${text}" is not a port`)
  return Number(text)
}

function count(text: string | undefined, refusals: Refusals): number | undefined {
  if (text === undefined) return undefined
  if (!isWhole(text, MOST_SLOTS)) {
    refusals.add('slots', `"${text}" is not a whole number from 0 to ${MOST_SLOTS}`)
  }
  return Number(text)
}

function isWhole(text: string, most: number): boolean {
  return /^\d{1,9}$/.test(text) && Number(text) <= most
}

function readStore(url: string | undefined, refusals: Refusals): string | undefined {
  if (url !== undefined && !isStoreUrl(url)) {
    // The text itself may hold a password.
    refusals.add('store', 'is neither sqlite:<file> nor postgres://…')
  }
  return url
}

function readPlace(text: string | undefined, refusals: Refusals): BlobPlace | undefined {
  const place = BLOB_PLACES.find((known) => known === text)
  if (text !== undefined && !place) refusals.add('blobs', `"${text}" is neither fs nor store`)
  return place
}

const LEAST_INLINE_BYTES = 256

function readInlineLimit(text: string | undefined, refusals: Refusals): number | undefined {
  if (text === undefined) return undefined
  try {
    const bytes = parseSize(text, 'inline-limit')
    if (bytes >= LEAST_INLINE_BYTES && bytes <= LIMITS.inlineBytes) return bytes
    refusals.add('inline-limit', `"${text}" is not between 256B and 64KiB`)
  } catch {
    refusals.add('inline-limit', `"${text}" is not a size; try 1KiB`)
  }
  return undefined
}

/** Shorter, and a busy machine would lose its workers; longer, and nobody would notice that one is gone. */
const LEAST_PLAIN_TTL_MS = 500
const MOST_PLAIN_TTL_MS = 600_000

function readPlainTtl(text: string | undefined, refusals: Refusals): number | undefined {
  if (text === undefined) return undefined
  try {
    const ms = parseDuration(text, 'plain-ttl')
    if (ms >= LEAST_PLAIN_TTL_MS && ms <= MOST_PLAIN_TTL_MS) return ms
    refusals.add('plain-ttl', `"${text}" is not between 500ms and 10m`)
  } catch {
    refusals.add('plain-ttl', `"${text}" is not a duration; try 20s`)
  }
  return undefined
}

function readAllowed(entries: readonly string[], refusals: Refusals): readonly string[] {
  try {
    parseAllowList(entries)
  } catch (error) {
    refusals.add('allow-address', (error as Error).message.replace('allow-address: ', ''))
  }
  return entries
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
