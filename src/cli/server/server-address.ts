import { readFileSync } from 'node:fs'
import { type Context, contextOf, readContexts } from './contexts.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import {
  findProjectServer,
  type Project,
  runningServers,
  type ServerFile,
  serverOfData,
} from './running-servers.ts'
import { readServerUrls } from './server-urls.ts'

/** The addresses of a server, and its token. */
export interface ServerAddress {
  /** One, or several nodes of one installation. */
  readonly urls: readonly string[]
  readonly token: string | undefined
  /** The project of the context, if there is one. */
  readonly project?: string | undefined
  /** How the server was chosen, if neither the command line nor the environment named it. */
  readonly chosenAs?: string | undefined
}

const DEFAULT_URL = 'http://127.0.0.1:7420'

type Env = Readonly<Record<string, string | undefined>>

interface Flags {
  readonly server?: readonly string[] | undefined
  readonly context?: string | undefined
  readonly token?: string | undefined
  readonly data?: string | undefined
}

interface Place {
  readonly env: Env
  readonly cwd: string
}

/**
 * Chooses the server, in this order: the command line, the environment, the `.punctual` of this
 * directory or a parent, the current context, the only running server of this user, the default
 * address. Never picks one of several.
 */
export function findServer(flags: Flags, place: Place): ServerAddress {
  const { token, ...address } = chooseServer(flags, place)
  // A token in the environment belongs to the server in the environment; a context has its own.
  return { ...address, token: flags.token || token || place.env['PUNCTUAL_TOKEN'] || undefined }
}

function chooseServer(flags: Flags, place: Place): ServerAddress {
  const { env, cwd } = place
  const named = nameServer(flags, place)
  if (named) return named
  const dataDir = flags.data ?? (env['PUNCTUAL_DATA'] || undefined)
  if (dataDir !== undefined) return ofData(dataDir, place)
  const project = findProjectServer(cwd)
  if (project) return ofProject(project, place)
  const { current, contexts } = readContexts(env)
  if (current !== undefined) {
    return ofContext(contextOf({ contexts }, current), `context ${current}`)
  }
  const running = runningServers(env)
  const [only] = running
  if (!only) return { urls: [DEFAULT_URL], token: undefined, chosenAs: 'the default' }
  if (running.length > 1) throw notChosen(running)
  return ofFile(only, env, 'the only one of yours that is running')
}

/** The server named by the command line, or else by the environment. */
function nameServer(flags: Flags, place: Place): ServerAddress | undefined {
  const { env } = place
  const { server: texts, context: name } = flags
  if (texts && name !== undefined) {
    throw new Failure('--server and --context both name a server', {
      exitCode: EXIT.usage,
      hint: 'Give one of them.',
    })
  }
  if (name !== undefined) return ofContext(contextOf(readContexts(env), name))
  if (texts) return ofUrls(readServerUrls(texts), flags, place)
  const { PUNCTUAL_SERVER: text, PUNCTUAL_CONTEXT: variable } = env
  if (text) return ofUrls(readServerUrls([text]), flags, place)
  return variable ? ofContext(contextOf(readContexts(env), variable)) : undefined
}

/** The token of a server on this machine is sent to its own address automatically. */
function ofUrls(urls: readonly string[], flags: Flags, { env, cwd }: Place): ServerAddress {
  const dataDir = flags.data ?? (env['PUNCTUAL_DATA'] || undefined)
  const known = [
    dataDir === undefined ? undefined : serverOfData(dataDir),
    findProjectServer(cwd)?.server,
    ...runningServers(env),
  ].filter((server) => server !== undefined)
  const own = urls.map((url) => known.find((server) => isSameServer(server.url, url)))
  const token = own.includes(undefined) ? undefined : readToken(own[0]?.tokenFile)
  return { urls, token: env['PUNCTUAL_TOKEN'] || token }
}

function ofData(dataDir: string, { env }: Place): ServerAddress {
  const server = serverOfData(dataDir)
  if (!server) throw notRunning(dataDir, [])
  return ofFile(server, env)
}

function ofProject({ dataDir, server }: Project, { env }: Place): ServerAddress {
  // Falling back to another server could change the wrong one.
  if (!server) throw notRunning(dataDir, runningServers(env))
  return ofFile(server, env, `data in ${dataDir}`)
}

function ofFile({ url, tokenFile }: ServerFile, env: Env, chosenAs?: string): ServerAddress {
  return { urls: [url], token: env['PUNCTUAL_TOKEN'] || readToken(tokenFile), chosenAs }
}

function ofContext({ server, token, project }: Context, chosenAs?: string): ServerAddress {
  return { urls: readServerUrls([server]), token, project, chosenAs }
}

function notRunning(dataDir: string, running: readonly ServerFile[]): Failure {
  return new Failure(`no server is running on the data in ${dataDir}`, {
    exitCode: EXIT.unreachable,
    list: running.map(describeServer),
    hint: `Start it with \`punctual up --data ${dataDir}\`, or name another with --server URL.`,
  })
}

function notChosen(running: readonly ServerFile[]): Failure {
  return new Failure(`${running.length} servers of yours are running, and none was chosen`, {
    exitCode: EXIT.usage,
    code: 'server_not_chosen',
    list: running.map(describeServer),
    hint: 'Choose one with --server URL or --context NAME, or go to the directory of its data.',
  })
}

export function describeServer({ url, dataDir }: ServerFile): string {
  return dataDir === undefined ? url : `${url}  ${dataDir}`
}

function readToken(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}

function isSameServer(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).host === new URL(b).host
}

/** Whether the server is on this machine: then its workers can use the directories of this machine. */
export function isHere(url: string): boolean {
  return /^(?:127\.|localhost$|\[::1\]$)/.test(new URL(url).hostname)
}
