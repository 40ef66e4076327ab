import { closeSync, constants, openSync, readSync } from 'node:fs'

const RECORD_BYTES = 8192
const MOST_RECORDS = 100_000

/**
 * Whether the kernel says it killed something in this container for its memory. Engines overlook that
 * on machines with older control groups. Without the right to read the log, the answer is no.
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
      // EPIPE: what we were about to read was overwritten; the next one is there.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') return false
    }
  }
  return false
}
