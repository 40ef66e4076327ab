import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

type Env = Readonly<Record<string, string | undefined>>

/**
 * The file a running server writes for the command line on its machine: its address, not its token.
 */
export interface ServerFile {
  readonly url: string
  readonly tokenFile: string
  readonly pid: number
  /** When the process started, because process numbers are reused. */
  readonly processStart?: string
  readonly dataDir?: string
}

export const SERVER_FILE = 'server.json'
export const DATA_DIR = '.punctual'
/** Written at every start and never removed, so it marks a directory as the data of a server. */
const ADMIN_TOKEN = 'admin-token'
/** Temporary files of unfinished writes have longer names. */
const NAMED_AFTER_PROCESS = /^\d+\.json$/

/** The directory in which the servers of this user write their files. */
export function serversDirectory(env: Env): string {
  const state = env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state')
  return join(state, 'punctual', 'servers')
}

/** The running server of a data directory that the caller named. */
export function serverOfData(dataDir: string): ServerFile | undefined {
  return readLive(join(dataDir, SERVER_FILE))
}

export interface Project {
  readonly dataDir: string
  /** Absent if no server runs there. */
  readonly server: ServerFile | undefined
}

/** The closest `.punctual` directory, here or in a parent, that contains a server's data. */
export function findProjectServer(cwd: string): Project | undefined {
  for (let dir = cwd; ; dir = dirname(dir)) {
    const dataDir = join(dir, DATA_DIR)
    const server = readTrusted(join(dataDir, SERVER_FILE))
    if (server) return { dataDir, server }
    if (isTrusted(join(dataDir, ADMIN_TOKEN))) return { dataDir, server: undefined }
    if (dirname(dir) === dir) return undefined
  }
}

/** The running servers of this user on this machine. */
export function runningServers(env: Env): ServerFile[] {
  const directory = serversDirectory(env)
  if (!existsSync(directory)) return []
  return namesIn(directory).flatMap((name) => readTrusted(join(directory, name)) ?? [])
}

/** Files of servers that ended without removing them, for example after `kill -9`. */
export function abandonedFiles(directory: string): string[] {
  const paths = namesIn(directory).map((name) => join(directory, name))
  return paths.filter((path) => isTrusted(path) && readLive(path) === undefined)
}

function namesIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => NAMED_AFTER_PROCESS.test(name))
}

/** Undefined if the system does not report it. */
export function startOfProcess(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program's name, in brackets, may contain spaces and brackets.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

/**
 * A file that was found, not named by the user, must belong to this user or root: it decides where
 * a token is sent, and anyone can create one in a directory such as /tmp.
 */
function readTrusted(path: string): ServerFile | undefined {
  return isTrusted(path) ? readLive(path) : undefined
}

function isTrusted(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found?.isFile() || (found.mode & 0o022) !== 0) return false
  return found.uid === process.getuid?.() || found.uid === 0
}

/** Undefined if the process that wrote the file has ended. */
function readLive(path: string): ServerFile | undefined {
  try {
    const server = JSON.parse(readFileSync(path, 'utf8')) as ServerFile
    return isRunning(server) ? server : undefined
  } catch {
    return undefined
  }
}

function isRunning({ pid, processStart }: ServerFile): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process runs as another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const start = processStart === undefined ? undefined : startOfProcess(pid)
  return start === undefined || start === processStart
}
