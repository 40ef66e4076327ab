import { posixChanges, posixOffset } from './posix-rule.ts'

/** A zone as a system file describes it. Independent of the product and the runtime. */
export interface Clocks {
  /** Seconds ahead of UTC at a second. */
  offsetAt(second: number): number
  /** Seconds in [from, to] at which the offset changes. */
  changes(from: number, to: number): number[]
}

/** Reads a compiled zone in the format of RFC 9636: version 2 or later, with 64-bit times. */
export function readTzif(file: Buffer): Clocks {
  if (file.toString('latin1', 0, 4) !== 'TZif') throw new Error('not a compiled zone')
  if (file[4]! < 0x32) throw new Error('a zone in the format of the last century')
  const old = readCounts(file, 0)
  const start = 44 + blockSize(old, 4)
  const counts = readCounts(file, start)
  const timesAt = start + 44
  const typesAt = timesAt + counts.times * 8
  const recordsAt = typesAt + counts.times
  const typeOffset = (type: number) => file.readInt32BE(recordsAt + type * 6)
  const footerAt = timesAt + blockSize(counts, 8)
  const footer = file.toString('latin1', footerAt + 1, file.indexOf(0x0a, footerAt + 1))

  const times = Array.from({ length: counts.times }, (_, index) =>
    Number(file.readBigInt64BE(timesAt + index * 8)),
  )
  const offsets = times.map((_, index) => typeOffset(file[typesAt + index]!))
  const first = typeOffset(0)
  const lastTime = times.at(-1) ?? -Infinity

  function offsetAt(second: number): number {
    if (second >= lastTime && footer !== '') return posixOffset(footer, second)
    let low = 0
    let high = times.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (times[middle]! <= second) low = middle + 1
      else high = middle
    }
    return low === 0 ? first : offsets[low - 1]!
  }

  function changes(from: number, to: number): number[] {
    const listed = times.filter((time) => time >= from && time <= to)
    const later = to > lastTime ? footerChanges(footer, Math.max(from, lastTime, 0), to) : []
    return [...new Set([...listed, ...later])]
      .filter((time) => offsetAt(time) !== offsetAt(time - 1))
      .toSorted((a, b) => a - b)
  }
  return { offsetAt, changes }
}

interface Counts {
  readonly universal: number
  readonly standard: number
  readonly leaps: number
  readonly times: number
  readonly types: number
  readonly letters: number
}

function readCounts(file: Buffer, at: number): Counts {
  const [universal, standard, leaps, times, types, letters] = [0, 1, 2, 3, 4, 5].map((index) =>
    file.readUInt32BE(at + 20 + index * 4),
  ) as [number, number, number, number, number, number]
  return { universal, standard, leaps, times, types, letters }
}

function blockSize(counts: Counts, timeSize: number): number {
  const { universal, standard, leaps, times, types, letters } = counts
  return (
    times * (timeSize + 1) + types * 6 + letters + leaps * (timeSize + 4) + standard + universal
  )
}

function footerChanges(footer: string, from: number, to: number): number[] {
  const year = (second: number) => new Date(second * 1_000).getUTCFullYear()
  const found: number[] = []
  for (let one = year(from) - 1; one <= year(to) + 1; one++)
    found.push(...posixChanges(footer, one))
  return found.filter((second) => second >= from && second <= to)
}
