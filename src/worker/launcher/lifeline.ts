/**
 * How long the processes of a worker may live: until an instant of the machine's monotonic clock,
 * moved on with every renewal. Eight bytes each, nanoseconds, so that a thread that does nothing but
 * heartbeats can write them without putting anything together.
 */
export interface Lifeline {
  read(piece: Buffer): void
  extend(until: bigint): void
  isHeld(): boolean
}

const SIZE = 8
const MS = 1_000_000n

/** `onLapse` is called every time the instant passes without having been moved on. */
export function createLifeline(onLapse: () => void): Lifeline {
  let until = 0n
  let timer: NodeJS.Timeout | undefined
  let rest: Buffer = Buffer.alloc(0)

  const isHeld = () => process.hrtime.bigint() < until
  const watch = () => {
    timer = undefined
    if (isHeld()) schedule()
    else onLapse()
  }
  const schedule = () => {
    if (timer) return
    const leftMs = Number((until - process.hrtime.bigint()) / MS) + 1
    timer = setTimeout(watch, Math.max(1, leftMs))
  }

  const extend = (later: bigint) => {
    if (later > until) until = later
    schedule()
  }

  return {
    isHeld,
    extend,
    read(piece) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece
      const whole = bytes.length - (bytes.length % SIZE)
      rest = bytes.subarray(whole)
      if (whole === 0) return
      extend(bytes.readBigUInt64LE(whole - SIZE))
    },
  }
}

export function lifelineMessage(untilMono: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(SIZE)
  bytes.writeBigUInt64LE(untilMono)
  return bytes
}
