import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'

/** Where a server is, and what opens it. */
export interface ServerAddress {
  readonly url: string
  readonly token: string | undefined
}

/** What a server leaves behind for the command line on its machine: its address, not its token. */
export interface Beacon {
  readonly url: string
  readonly tokenFile: string
  readonly pid: number
}

export const BEACON_FILE = 'server.json'
const DATA_DIR = '.punctual'
const DEFAULT_URL = 'http://127.0.0.1:7420'

type Env = Readonly<Record<string, string | undefined>>

/** Flags, then the environment, then the server of this directory or one above, then of this user. */
export function findServer(
  flags: { server?: string | undefined; token?: string | undefined; data?: string | undefined },
  { env, cwd }: { env: Env; cwd: string },
): ServerAddress {
  const url = flags.server ?? env['PUNCTUAL_SERVER']
  const token = flags.token ?? env['PUNCTUAL_TOKEN']
  if (url !== undefined && token !== undefined) return { url: checked(url), token }
  const beacon = readBeacon(flags.data ?? env['PUNCTUAL_DATA'], env, cwd)
  if (url === undefined) {
    return { url: beacon?.url ?? DEFAULT_URL, token: token ?? readToken(beacon?.tokenFile) }
  }
  const isSame = beacon !== undefined && sameServer(beacon.url, url)
  return { url: checked(url), token: token ?? (isSame ? readToken(beacon.tokenFile) : undefined) }
}

/** The directory in which servers of this user say that they are there. */
export function beaconDirectory(env: Env): string {
  const state = env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state')
  return join(state, 'punctual', 'servers')
}

function readBeacon(dataDir: string | undefined, env: Env, cwd: string): Beacon | undefined {
  if (dataDir !== undefined) return tryBeacon(join(dataDir, BEACON_FILE))
  for (let dir = cwd; ; dir = dirname(dir)) {
    const found = tryBeacon(join(dir, DATA_DIR, BEACON_FILE))
    if (found) return found
    if (dirname(dir) === dir) break
  }
  return newestBeacon(beaconDirectory(env))
}

function newestBeacon(directory: string): Beacon | undefined {
  if (!existsSync(directory)) return undefined
  const files = readdirSync(directory).map((name) => join(directory, name))
  const byAge = files.toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const file of byAge) {
    const beacon = tryBeacon(file)
    if (beacon) return beacon
  }
  return undefined
}

/** A beacon whose server is gone lights nothing. */
function tryBeacon(path: string): Beacon | undefined {
  try {
    const beacon = JSON.parse(readFileSync(path, 'utf8')) as Beacon
    process.kill(beacon.pid, 0)
    return beacon
  } catch (error) {
    // Somebody else's server is alive all the same.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined
    return JSON.parse(readFileSync(path, 'utf8')) as Beacon
  }
}

function readToken(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}

function sameServer(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).host === new URL(b).host
}

function checked(url: string): string {
  if (URL.canParse(url) && /^https?:/.test(url)) return url.replace(/\/$/, '')
  throw new Failure(`"${url}" is not the address of a server`, {
    exitCode: EXIT.usage,
    hint: 'Addresses look like http://127.0.0.1:7420.',
  })
}

/** Whether it is on this machine: then its workers know directories that people name here. */
export function isHere(url: string): boolean {
  return /^(?:127\.|localhost$|\[::1\]$)/.test(new URL(url).hostname)
}
