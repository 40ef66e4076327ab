import { lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startedTicks } from './process-tree.ts'

/**
 * Launchers record their running processes, so that a later worker can kill what a killed launcher
 * left. Each launcher has a file named after its boot, PID namespace, process and start time. It
 * begins with the cgroups it made; then every process has a slot, blank once it has ended.
 */
export const NOTE = { head: 4096, size: 128 } as const

/** Directories that are emptied at boot come first. */
const PLACES = ['/run', process.env['XDG_RUNTIME_DIR'], '/dev/shm', tmpdir()]

/**
 * A directory shared by all workers of a user: only the remains of dead launchers are ever touched.
 * Empty if no directory is private to this user.
 */
export function notesDirectory(): string {
  const uid = process.getuid?.() ?? 0
  for (const place of PLACES) {
    const path = privateDirectory(place, uid)
    if (path !== undefined) return path
  }
  return ''
}

function privateDirectory(place: string | undefined, uid: number): string | undefined {
  if (!place) return undefined
  const path = join(place, `punctual-launchers-${uid}`)
  try {
    makeOnce(path)
    const found = lstatSync(path)
    const isOurs = found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0
    return isOurs ? path : undefined
  } catch {
    return undefined
  }
}

/** Without `recursive`, which loops for ever in places like /proc. */
function makeOnce(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Identifies one process of this machine until the next reboot. */
export interface Identity {
  readonly boot: string
  /** Process numbers are valid only within one PID namespace. */
  readonly namespace: string
  readonly pid: number
  readonly started: number
}

export function ownIdentity(): Identity {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)
  const namespace = String(statSync('/proc/self/ns/pid').ino)
  return { boot, namespace, pid: process.pid, started: startedTicks(process.pid) ?? 0 }
}

export function nameOf({ boot, namespace, pid, started }: Identity): string {
  return `${boot}.${namespace}.${pid}.${started}`
}

export function identityOf(name: string): Identity | undefined {
  const [, boot, namespace, pid, started] = /^([\da-f]{8})\.(\d+)\.(\d+)\.(\d+)$/.exec(name) ?? []
  if (!boot || !namespace) return undefined
  return { boot, namespace, pid: Number(pid), started: Number(started) }
}

export interface Notes {
  readonly cgroups: readonly string[]
  readonly processes: readonly {
    readonly pid: number
    readonly ticks: number
    readonly run: string
    readonly fence: string
  }[]
}

export function readNotes(path: string): Notes {
  const lines = readFileSync(path, 'utf8').replaceAll('\0', '').split('\n')
  return {
    cgroups: lines.flatMap((line) => /^cgroup (\/.*)$/.exec(line)?.[1] ?? []),
    processes: lines.flatMap((line) => {
      const [, pid, ticks, run = '', fence = ''] = /^(\d+) (\d+) (\S+) (\S+) *$/.exec(line) ?? []
      return pid === undefined ? [] : [{ pid: Number(pid), ticks: Number(ticks), run, fence }]
    }),
  }
}
