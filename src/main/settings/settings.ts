import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { parseDuration } from '../../core/text/duration.ts'
import { LIMITS } from '../../core/limits.ts'
import { LOG_FORMATS, type LogFormat } from '../../core/logging/logger.ts'
import { parseSize } from '../../core/text/size.ts'
import { BLOB_PLACES, type BlobPlace, defaultBlobPlace } from '../storage/open-blobs.ts'
import { parseAllowList } from '../../outbound/allow-list.ts'
import { DEFAULT_CONFIG } from '../../server/cluster/config.ts'
import { isStoreUrl } from '../storage/open-store.ts'
import {
  type GivenProcessSettings,
  type ProcessSettings,
  processSettingsIn,
  readProcessSettings,
} from './process-settings.ts'
import { collectSettingErrors, type SettingErrors } from './setting-errors.ts'
import { readSettingsFile } from './settings-file.ts'
import { readTlsFiles, type TlsFiles } from './tls-files.ts'
import { EMPTY_ANSWERS, type EmptyAnswer } from '../../server/compat/wire.ts'

/** The settings of a server. Every setting has a default. */
export interface Settings {
  readonly host: string
  readonly port: number
  readonly dataDir: string
  readonly store: string
  /** Where inputs and results larger than `inlineBytes` are stored. */
  readonly blobs: BlobPlace
  readonly inlineBytes: number
  /** How long a worker of the compatibility API may be silent. */
  readonly compatTtlMs: number
  /** The answer to such a worker when there is no job. */
  readonly compatEmpty: EmptyAnswer
  /** The lowest accepted version of the worker protocol. */
  readonly workerProtocol: 1 | 2
  readonly slots: number
  /** Callers on this machine need no token. */
  readonly isOpen: boolean
  readonly allowHosts: readonly string[]
  /** Permitted destinations of requests besides the public internet. */
  readonly allowAddresses: readonly string[]
  readonly tls: TlsFiles | undefined
  /** The process settings of its worker. */
  readonly processes: ProcessSettings
  /** The file with the keys of secrets; default: in the data directory. */
  readonly secretKey: string | undefined
  readonly logFormat: LogFormat
}

/** The settings from flags, environment and file: all text, all optional. */
export interface GivenSettings extends GivenProcessSettings {
  readonly listen?: string | undefined
  readonly port?: string | undefined
  readonly data?: string | undefined
  readonly store?: string | undefined
  readonly blobs?: string | undefined
  readonly inlineLimit?: string | undefined
  readonly plainTtl?: string | undefined
  readonly plainEmpty?: string | undefined
  readonly workerProtocol?: string | undefined
  readonly slots?: string | undefined
  readonly open?: boolean | undefined
  readonly allowHost?: readonly string[] | undefined
  readonly allowAddress?: readonly string[] | undefined
  readonly tlsCert?: string | undefined
  readonly tlsKey?: string | undefined
  readonly secretKey?: string | undefined
  readonly logFormat?: string | undefined
}

const DEFAULT_PORT = 7420
const DEFAULT_SLOTS = 8
const MOST_SLOTS = 10_000
const FILE = 'config.json'

/** Precedence: flags, `PUNCTUAL_*` variables, the file, the defaults. */
export function readSettings(flags: GivenSettings, env: NodeJS.ProcessEnv): Settings {
  const settingErrors = collectSettingErrors()
  const dataDir = flags.data ?? (env['PUNCTUAL_DATA'] || '.punctual')
  if (dataDir === '') settingErrors.add('data', 'is empty; leave it out for ./.punctual')
  const file = readSettingsFile(join(dataDir, FILE), settingErrors)
  const given = [fromEnvironment(env, settingErrors), flags].reduce(mergeSettings, file)
  const { host, port } = parseListen(given, settingErrors)
  const isOpen = given.open ?? false
  if (isOpen && !isLoopback(host)) {
    settingErrors.add('open', `cannot be used with ${host}: others could reach it without a token`)
  }
  const store = readStore(given.store, settingErrors) ?? `sqlite:${dataDir}/punctual.db`
  const settings = {
    host,
    port,
    dataDir,
    store,
    blobs: readPlace(given.blobs, settingErrors) ?? defaultBlobPlace(store),
    inlineBytes: readInlineLimit(given.inlineLimit, settingErrors) ?? LIMITS.inlineBytes,
    compatTtlMs: readCompatTtl(given.plainTtl, settingErrors) ?? DEFAULT_CONFIG.compatTtlMs,
    compatEmpty: readCompatEmpty(given.plainEmpty, settingErrors) ?? '204',
    workerProtocol: readWorkerProtocol(given.workerProtocol, settingErrors) ?? 1,
    slots: count(given.slots, settingErrors) ?? DEFAULT_SLOTS,
    isOpen,
    allowHosts: [...(given.allowHost ?? []), ...(isLoopback(host) ? [] : ownNames(host))],
    allowAddresses: readAllowed(given.allowAddress ?? [], settingErrors),
    tls: readTlsFiles(given.tlsCert, given.tlsKey, settingErrors),
    processes: readProcessSettings(given, settingErrors),
    secretKey: given.secretKey,
    logFormat: readLogFormat(given.logFormat, settingErrors),
  }
  settingErrors.throwIfAny()
  return settings
}

/** An empty variable counts as unset. */
function fromEnvironment(env: NodeJS.ProcessEnv, settingErrors: SettingErrors): GivenSettings {
  const text = (name: string) => env[name] || undefined
  return {
    listen: text('PUNCTUAL_LISTEN'),
    port: text('PUNCTUAL_PORT'),
    store: text('PUNCTUAL_STORE'),
    blobs: text('PUNCTUAL_BLOBS'),
    inlineLimit: text('PUNCTUAL_INLINE_LIMIT'),
    plainTtl: text('PUNCTUAL_PLAIN_TTL'),
    plainEmpty: text('PUNCTUAL_PLAIN_EMPTY'),
    workerProtocol: text('PUNCTUAL_WORKER_PROTOCOL'),
    slots: text('PUNCTUAL_SLOTS'),
    open: readSwitch('PUNCTUAL_OPEN', text('PUNCTUAL_OPEN'), settingErrors),
    allowHost: text('PUNCTUAL_ALLOW_HOST')?.split(','),
    allowAddress: text('PUNCTUAL_ALLOW_ADDRESS')?.split(','),
    tlsCert: text('PUNCTUAL_TLS_CERT'),
    tlsKey: text('PUNCTUAL_TLS_KEY'),
    ...processSettingsIn(env),
    secretKey: text('PUNCTUAL_SECRET_KEY_FILE'),
    logFormat: text('PUNCTUAL_LOG_FORMAT'),
  }
}

export function readLogFormat(text: string | undefined, settingErrors: SettingErrors): LogFormat {
  const format = LOG_FORMATS.find((known) => known === text)
  if (text !== undefined && !format)
    settingErrors.add('log-format', `"${text}" is neither text nor json`)
  return format ?? 'text'
}

function readSwitch(name: string, text: string | undefined, settingErrors: SettingErrors) {
  if (text === undefined) return undefined
  if (text === '1' || text === 'true') return true
  if (text !== '0' && text !== 'false')
    settingErrors.add(name, `is "${text}" and not true or false`)
  return false
}

/**
 * Merges settings from two sources. An address overrides a weaker port, because it includes one.
 */
function mergeSettings(weaker: GivenSettings, stronger: GivenSettings): GivenSettings {
  const said = Object.entries(stronger).filter(([, value]) => value !== undefined)
  const { port: _port, ...withoutPort } = weaker
  return {
    ...(stronger.listen === undefined ? weaker : withoutPort),
    ...Object.fromEntries(said),
  }
}

function parseListen({ listen, port }: GivenSettings, settingErrors: SettingErrors) {
  if (listen === undefined) return { host: '127.0.0.1', port: readPort(port, settingErrors) }
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(listen)
  if (!match) settingErrors.add('listen', `"${listen}" is not HOST:PORT`)
  const host = match?.[1] ?? match?.[2] ?? '127.0.0.1'
  return { host, port: readPort(port ?? match?.[3], settingErrors) }
}

function readPort(text: string | undefined, settingErrors: SettingErrors): number {
  if (text === undefined) return DEFAULT_PORT
  if (!isWhole(text, 65_535)) settingErrors.add('port', `"${text}" is not a port`)
  return Number(text)
}

function count(text: string | undefined, settingErrors: SettingErrors): number | undefined {
  if (text === undefined) return undefined
  if (!isWhole(text, MOST_SLOTS)) {
    settingErrors.add('slots', `"${text}" is not a whole number from 0 to ${MOST_SLOTS}`)
  }
  return Number(text)
}

function isWhole(text: string, most: number): boolean {
  return /^\d{1,9}$/.test(text) && Number(text) <= most
}

function readStore(url: string | undefined, settingErrors: SettingErrors): string | undefined {
  if (url !== undefined && !isStoreUrl(url)) {
    // The message does not quote the URL, which may contain a password.
    settingErrors.add('store', 'is neither sqlite:<file> nor postgres://…')
  }
  return url
}

function readPlace(text: string | undefined, settingErrors: SettingErrors): BlobPlace | undefined {
  const place = BLOB_PLACES.find((known) => known === text)
  if (text !== undefined && !place) settingErrors.add('blobs', `"${text}" is neither fs nor store`)
  return place
}

const LEAST_INLINE_BYTES = 256

function readInlineLimit(
  text: string | undefined,
  settingErrors: SettingErrors,
): number | undefined {
  if (text === undefined) return undefined
  try {
    const bytes = parseSize(text, 'inline-limit')
    if (bytes >= LEAST_INLINE_BYTES && bytes <= LIMITS.inlineBytes) return bytes
    settingErrors.add('inline-limit', `"${text}" is not between 256B and 64KiB`)
  } catch {
    settingErrors.add('inline-limit', `"${text}" is not a size; try 1KiB`)
  }
  return undefined
}

function readWorkerProtocol(
  text: string | undefined,
  settingErrors: SettingErrors,
): 1 | 2 | undefined {
  if (text === undefined) return undefined
  if (text !== '1' && text !== '2')
    settingErrors.add('worker-protocol', `is "${text}" and not 1 or 2`)
  return text === '2' ? 2 : 1
}

/** With less, a busy machine would lose its workers; with more, lost workers would go unnoticed. */
const LEAST_COMPAT_TTL_MS = 500
const MOST_COMPAT_TTL_MS = 600_000

function readCompatTtl(text: string | undefined, settingErrors: SettingErrors): number | undefined {
  if (text === undefined) return undefined
  try {
    const ms = parseDuration(text, 'plain-ttl')
    if (ms >= LEAST_COMPAT_TTL_MS && ms <= MOST_COMPAT_TTL_MS) return ms
    settingErrors.add('plain-ttl', `"${text}" is not between 500ms and 10m`)
  } catch {
    settingErrors.add('plain-ttl', `"${text}" is not a duration; try 20s`)
  }
  return undefined
}

function readCompatEmpty(
  text: string | undefined,
  settingErrors: SettingErrors,
): EmptyAnswer | undefined {
  const answer = EMPTY_ANSWERS.find((known) => known === text)
  if (text !== undefined && !answer)
    settingErrors.add('plain-empty', `"${text}" is neither 204 nor json`)
  return answer
}

function readAllowed(entries: readonly string[], settingErrors: SettingErrors): readonly string[] {
  try {
    parseAllowList(entries)
  } catch (error) {
    settingErrors.add('allow-address', (error as Error).message.replace('allow-address: ', ''))
  }
  return entries
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** The names by which clients may address a server that listens beyond its own machine. */
function ownNames(host: string): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const shown = addresses.map(({ address, family }) =>
    family === 'IPv6' ? `[${address}]` : address,
  )
  return [host, hostname(), ...shown]
}
