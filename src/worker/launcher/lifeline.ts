import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * How long the processes of a worker may live: until a time of the machine's monotonic clock, in
 * nanoseconds, which every renewal extends. The worker's threads write it to an unlinked file, and
 * the launchers read the file when the time seems to be up. A file instead of a pipe, because any
 * thread can write it at any time, and no reader has to be awake.
 */
export interface LifelineFile {
  readonly fd: number
  renew(untilMono: bigint): void
  close(): void
}

const SIZE = 8
const MS = 1_000_000

export function openLifelineFile(): LifelineFile {
  const directory = mkdtempSync(join(tmpdir(), 'punctual-lifeline-'))
  const fd = openSync(join(directory, 'until'), 'wx+', 0o600)
  rmSync(directory, { recursive: true })
  writeLifeline(fd, 0n)
  return {
    fd,
    renew: (untilMono) => writeLifeline(fd, untilMono),
    close: () => closeSync(fd),
  }
}

/** Writes the time twice: a concurrent reader finds that the two values differ. */
export function writeLifeline(fd: number, untilMono: bigint): void {
  const bytes = Buffer.allocUnsafe(2 * SIZE)
  bytes.writeBigUInt64LE(untilMono, 0)
  bytes.writeBigUInt64LE(untilMono, SIZE)
  try {
    writeSync(fd, bytes, 0, bytes.length, 0)
  } catch {
    // A lifeline that cannot be renewed, for whatever reason, expires.
  }
}

const READS = 100

export function readLifeline(fd: number): bigint {
  const bytes = Buffer.alloc(2 * SIZE)
  for (let tries = 0; tries < READS; tries += 1) {
    try {
      readSync(fd, bytes, 0, bytes.length, 0)
    } catch {
      return 0n
    }
    const until = bytes.readBigUInt64LE(0)
    if (until === bytes.readBigUInt64LE(SIZE)) return until
  }
  return 0n
}

/**
 * The launcher's view: returns whether the lifeline is held, and calls `onExpire` once when it no
 * longer is.
 */
export function watchLifeline(fd: number, onExpire: () => void): () => boolean {
  let until = 0n
  let timer: NodeJS.Timeout | undefined

  const leftMs = () => Number(until - process.hrtime.bigint()) / MS
  const isHeld = () => {
    if (leftMs() <= 0) until = readLifeline(fd)
    const left = leftMs()
    if (left > 0) timer ??= setTimeout(check, left + 1)
    return left > 0
  }
  const check = () => {
    timer = undefined
    if (!isHeld()) onExpire()
  }
  return isHeld
}
