import { writeSync } from 'node:fs'

/**
 * Writes lines straight to a descriptor. A log that cannot be written must neither stop nor slow
 * down a server: lines for a full disk, a closed pipe or a slow reader are dropped, and their
 * number is written with the next line that succeeds.
 */
export function createLogOutput(
  fd: number,
  options: { onDropped: (count: number) => string; write?: typeof writeSync },
): (line: string) => void {
  const { onDropped, write = writeSync } = options
  let dropped = 0
  /** The rest of a partially written line. */
  let rest: Buffer | undefined

  /** Returns true when all bytes are written. */
  const flush = (bytes: Buffer): boolean => {
    let left = bytes
    try {
      while (left.length > 0) left = left.subarray(write(fd, left))
      rest = undefined
      return true
    } catch {
      const isCut = left.length < bytes.length
      if (isCut || bytes === rest) rest = left
      return isCut
    }
  }

  return (line) => {
    const isFree = rest === undefined || (flush(rest) && rest === undefined)
    const text = dropped > 0 ? onDropped(dropped) + line : line
    if (isFree && flush(Buffer.from(text))) dropped = 0
    else dropped += 1
  }
}
