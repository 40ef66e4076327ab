import { readdirSync, readFileSync } from 'node:fs'
import { kill } from '../../launcher/process-tree.ts'

/**
 * Kills containers whose engine was killed while it created them. Podman does not list them yet and
 * cannot remove them, but its monitor process runs, named after the container, with a first process
 * below it that waits for the order to start.
 */
export function killPartialContainers(names: ReadonlySet<string>): void {
  if (process.platform !== 'linux') return
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid) || !isMonitorOf(pid, names)) continue
    const children = read(`/proc/${pid}/task/${pid}/children`).split(' ')
    for (const child of children) if (child !== '') kill(Number(child))
    kill(Number(pid))
  }
}

function isMonitorOf(pid: string, names: ReadonlySet<string>): boolean {
  const words = read(`/proc/${pid}/cmdline`).split('\0')
  const name = words[words.indexOf('-n') + 1]
  return /(?:^|\/)conmon$/.test(words[0] ?? '') && name !== undefined && names.has(name)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // The process ended meanwhile.
    return ''
  }
}
