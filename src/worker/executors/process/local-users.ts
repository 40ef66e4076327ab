import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { promisify } from 'node:util'
import { PunctualError } from '../../../core/errors.ts'
import { USER_NAME } from '../../../core/limits.ts'
import type { User } from '../../launcher/messages.ts'

/** A user of this machine that processes may run as. */
export interface LocalUser extends User {
  readonly name: string
  /** An existing directory: the user's own if it exists. */
  readonly home: string
  readonly shell: string
}

const run = promisify(execFile)
const ANSWER_MS = 10_000

/**
 * Looked up once when the worker starts: later changes to the user database take effect at the next
 * start, so an attacker who can edit it gains nothing now.
 */
export async function findUsers(names: readonly string[]): Promise<Map<string, LocalUser>> {
  const users = new Map<string, LocalUser>()
  for (const name of new Set(names)) users.set(name, await findUser(name))
  return users
}

async function findUser(name: string): Promise<LocalUser> {
  if (!USER_NAME.test(name)) throw unknown(name)
  // Asks the system instead of reading /etc/passwd: users may come from a directory service.
  const [uid, gid, groups, entry] = await Promise.all([
    ask('id', '-u', name),
    ask('id', '-g', name),
    ask('id', '-G', name),
    ask('getent', 'passwd', name),
  ])
  if (!isNumber(uid) || !isNumber(gid) || groups === undefined) throw unknown(name)
  const [, , , , , home = '', shell = ''] = (entry ?? '').split(':')
  return {
    name,
    uid: Number(uid),
    gid: Number(gid),
    groups: groups.split(' ').filter(isNumber).map(Number),
    home: isDirectory(home) ? home : '/',
    // A shell that refuses logins cannot run commands.
    shell: /\/(?:nologin|false)$/.test(shell) || shell === '' ? '/bin/sh' : shell,
  }
}

async function ask(program: string, ...args: string[]): Promise<string | undefined> {
  try {
    return (await run(program, args, { timeout: ANSWER_MS })).stdout.trim()
  } catch {
    return undefined
  }
}

function isNumber(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,10}$/.test(text)
}

function isDirectory(path: string): boolean {
  return path.startsWith('/') && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)
}

function unknown(name: string): PunctualError {
  const message = `there is no user ${JSON.stringify(name.slice(0, 40))} on this machine`
  return new PunctualError('config_invalid', message, { field: 'allow-user' })
}
