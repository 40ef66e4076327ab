import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * How long the processes of a worker may live: until an instant of the machine's monotonic clock, in
 * nanoseconds, moved on with every renewal. It is a file without a name that the worker's threads
 * write and its launchers look into when time seems to be up. A file and not a pipe, because any
 * thread can write to it at any time, and nobody has to be awake to take in what was written.
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

/** The instant, twice: whoever reads while it is written finds that the two differ. */
export function writeLifeline(fd: number, untilMono: bigint): void {
  const bytes = Buffer.allocUnsafe(2 * SIZE)
  bytes.writeBigUInt64LE(untilMono, 0)
  bytes.writeBigUInt64LE(untilMono, SIZE)
  try {
    writeSync(fd, bytes, 0, bytes.length, 0)
  } catch {
    // Whatever the reason: what cannot be renewed ends when its time is up.
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
 * A launcher's watch over it: says whether it is held, and from then on, once, when it no longer is.
 */
export function watchLifeline(fd: number, onLapse: () => void): () => boolean {
  let until = 0n
  let timer: NodeJS.Timeout | undefined

  const leftMs = () => Number(until - process.hrtime.bigint()) / MS
  const isHeld = () => {
    if (leftMs() <= 0) until = readLifeline(fd)
    const left = leftMs()
    if (left > 0) timer ??= setTimeout(look, left + 1)
    return left > 0
  }
  const look = () => {
    timer = undefined
    if (!isHeld()) onLapse()
  }
  return isHeld
}
