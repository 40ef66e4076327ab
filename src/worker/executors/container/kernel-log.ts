import { closeSync, constants, openSync, readSync } from 'node:fs'

const RECORD_BYTES = 8192
const MOST_RECORDS = 100_000

/**
 * Whether the kernel log says that a process of this container was killed for its memory. Engines
 * miss that on machines with cgroups v1. Without permission to read the log, the answer is no.
 */
export function wasKilledForMemory(container: string): boolean {
  let log: number | undefined
  try {
    log = openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK)
    return isInLog(log, container)
  } catch {
    return false
  } finally {
    if (log !== undefined) closeSync(log)
  }
}

function isInLog(log: number, container: string): boolean {
  const record = Buffer.alloc(RECORD_BYTES)
  for (let count = 0; count < MOST_RECORDS; count += 1) {
    try {
      const text = record.toString('latin1', 0, readSync(log, record))
      if (text.includes('oom-kill:') && text.includes(container)) return true
    } catch (error) {
      // EPIPE: the record was overwritten before it could be read; the next one is available.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') return false
    }
  }
  return false
}
