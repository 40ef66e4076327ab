import { readFileSync, readlinkSync } from 'node:fs'

/** The label that names the worker process a container belongs to. */
export const OWNER_LABEL = 'punctual.worker'

/** This process as `<pid namespace>-<pid>-<start time>`. */
export function ownOwner(): string {
  return `${pidNamespace()}-${process.pid}-${startOf('self') ?? 0}`
}

/**
 * Whether the named process has certainly ended. A process in another PID namespace cannot be
 * checked.
 */
export function isGone(owner: string): boolean {
  const [namespace, pid, since] = owner.split('-')
  if (namespace !== pidNamespace() || !/^\d+$/.test(pid ?? '')) return false
  const start = startOf(pid as string)
  // Without /proc, a used process number may belong to any process: keep the container.
  return process.platform === 'linux' ? String(start ?? '') !== since : !isAlive(Number(pid))
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}

/** When a process started, in ticks after the machine's boot. */
function startOf(pid: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19])
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
