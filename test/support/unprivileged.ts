import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const SETPRIV = '/usr/bin/setpriv'

/**
 * Prefixes a command so that it runs as `nobody` when we are root (PostgreSQL refuses root), and so
 * that the kernel interrupts it should this process die without saying goodbye.
 */
export function unprivileged(command: string, args: string[]): [file: string, args: string[]] {
  if (!existsSync(SETPRIV)) return [command, args]
  const drop = isRoot() ? ['--reuid=nobody', '--regid=nogroup', '--clear-groups'] : []
  return [SETPRIV, [...drop, '--pdeathsig=INT', command, ...args]]
}

/** The owner that files handed to an unprivileged command should have; undefined: leave them. */
export function unprivilegedOwner(): { uid: number; gid: number } | undefined {
  if (!isRoot()) return undefined
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}
