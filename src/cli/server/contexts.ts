import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { nearestName } from '../../core/text/nearest.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A named server: its address and token. */
export interface Context {
  readonly server: string
  readonly token?: string
  readonly project?: string
}

export interface Contexts {
  /** The context to use when nothing more specific names a server. */
  readonly current?: string | undefined
  readonly contexts: Readonly<Record<string, Context>>
}

const BY_OTHERS = 0o077

export function contextsFile(env: Env): string {
  return join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'punctual', 'contexts.json')
}

export function readContexts(env: Env): Contexts {
  const path = contextsFile(env)
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return { contexts: {} }
  // The file contains tokens and decides where they are sent.
  const isOurs = found.uid === process.getuid?.() || found.uid === 0
  if (!found.isFile() || !isOurs) throw wrong(path, 'is not a file of this user')
  if ((found.mode & BY_OTHERS) !== 0)
    throw wrong(path, 'can be read by other users', `Run: chmod 600 ${path}`)
  return parse(path, readFileSync(path, 'utf8'))
}

export function contextOf({ contexts }: Pick<Contexts, 'contexts'>, name: string): Context {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined
  if (context) return context
  const meant = nearestName(name, Object.keys(contexts))
  throw new Failure(`there is no context "${name}"`, {
    exitCode: EXIT.notFound,
    hint: meant === undefined ? 'punctual context ls shows them.' : `Did you mean ${meant}?`,
  })
}

/** Replaces the file as a whole, because another command may be reading it. */
export function writeContexts(env: Env, contexts: Contexts): void {
  const path = contextsFile(env)
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    writeFileSync(draft, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

function parse(path: string, text: string): Contexts {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw wrong(path, 'is not JSON')
  }
  const { current, contexts } = (value ?? {}) as Partial<Contexts>
  const isText = (one: unknown) => one === undefined || typeof one === 'string'
  const isGood =
    isText(current) &&
    typeof contexts === 'object' &&
    Object.values(
      (contexts as Record<string, Partial<Context> | null> | null) ?? { '': null },
    ).every((one) => typeof one?.server === 'string' && isText(one.token) && isText(one.project))
  if (!isGood) throw wrong(path, 'does not hold contexts as this program writes them')
  return { current, contexts }
}

function wrong(path: string, what: string, hint = 'Repair it, or remove it.'): Failure {
  return new Failure(`${path} ${what}`, {
    exitCode: EXIT.config,
    code: 'config_invalid',
    hint,
  })
}
