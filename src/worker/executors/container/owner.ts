import { readFileSync, readlinkSync } from 'node:fs'

/** The label that says which worker process a container belongs to. */
export const OWNER_LABEL = 'punctual.worker'

/** This process: in which world of process numbers, which number, and since when. */
export function ownOwner(): string {
  return `${worldOf()}-${process.pid}-${startOf('self') ?? 0}`
}

/** Whether the process it names is surely gone. One in another world cannot be asked. */
export function isGone(owner: string): boolean {
  const [world, pid, since] = owner.split('-')
  if (world !== worldOf() || !/^\d+$/.test(pid ?? '')) return false
  const start = startOf(pid as string)
  // Where there is no /proc, a number that is in use may be anybody's: better to leave it.
  return process.platform === 'linux' ? String(start ?? '') !== since : !isAlive(Number(pid))
}

function worldOf(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}

/** When a process began, in ticks since the machine did. */
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
