import { readdirSync, readFileSync } from 'node:fs'
import { kill } from '../../launcher/process-tree.ts'

/**
 * Ends what is left of containers whose engine was killed while it made them. Podman does not know
 * them yet, so it cannot remove them; but its monitor runs, named after the container, and below it a
 * first process that waits to be told to begin.
 */
export function endHalfMade(names: ReadonlySet<string>): void {
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
    // Gone meanwhile.
    return ''
  }
}
