import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const SETPRIV = '/usr/bin/setpriv'

/**
 * Prefixes a command so that it runs as `nobody` when we are root (PostgreSQL refuses root), and so that the
 * kernel interrupts it if this process dies.
 */
export function unprivileged(command: string, args: string[]): [file: string, args: string[]] {
  if (!existsSync(SETPRIV)) return [command, args]
  const drop = isRoot() ? ['--reuid=nobody', '--regid=nogroup', '--clear-groups'] : []
  return [SETPRIV, [...drop, '--pdeathsig=INT', command, ...args]]
}

/** The owner for files of an unprivileged command; undefined: leave the owner. */
export function unprivilegedOwner(): { uid: number; gid: number } | undefined {
  if (!isRoot()) return undefined
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}
