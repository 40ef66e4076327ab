import { lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startedTicks } from './process-tree.ts'

/**
 * Launchers note what they have under way, so that it can be ended by whoever comes after one that was
 * killed. A file for each of them, whose name says which process of which boot writes it. It begins with
 * the control groups it has made; then every process has its place, and spaces when it has ended.
 */
export const NOTE = { head: 4096, size: 128 } as const

/** Directories that a machine empties when it starts, before one that it may not. */
const PLACES = ['/run', process.env['XDG_RUNTIME_DIR'], '/dev/shm', tmpdir()]

/**
 * A directory for all workers of a user: only what a dead launcher left is ever touched. Empty if there
 * is no place that is ours alone.
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
    mkdirSync(path, { mode: 0o700, recursive: true })
    const found = lstatSync(path)
    const isOurs = found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0
    return isOurs ? path : undefined
  } catch {
    return undefined
  }
}

/** One process of this machine, for as long as it is not started anew. */
export interface Identity {
  readonly boot: string
  /** Process numbers mean something only within one namespace. */
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
