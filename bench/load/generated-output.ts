import type { OutputEntry } from '../../src/core/run/output.ts'

/** Generated server output: similar lines, and two unique ones to search for. */
export const NEEDLE = 'the needle in the haystack'
export const RARE_ERROR = 'gave up with E4711 after 9 tries'
export const RARE_ERROR_PATTERN = 'gave up with E[0-9]{4} after \\d+ tries'

const WORDS = ['GET', 'POST', '/v1/runs', 'ok', 'timeout', 'worker', 'lease', 'select', 'closed']
/** Characters that a worker puts into one chunk. */
const CHUNK_LENGTH = 190_000

export interface PrintedChunk {
  readonly entries: readonly OutputEntry[]
  readonly lines: number
  readonly bytes: number
}

/** Chunks of about `bytes` bytes in total; the two unique lines are at 90 % and 95 %. */
export function* printedChunks(bytes: number): Generator<PrintedChunk> {
  let seed = 1
  const next = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed % below
  }
  const rare = [
    { at: 0.9 * bytes, text: NEEDLE },
    { at: 0.95 * bytes, text: RARE_ERROR },
  ]
  let line = 0
  for (let printed = 0; printed < bytes;) {
    const entries: OutputEntry[] = []
    const from = line
    let length = 0
    while (length < CHUNK_LENGTH) {
      let text = ''
      for (let count = 0; count < 64; count += 1, line += 1) {
        const [method, word] = [WORDS[next(WORDS.length)], WORDS[next(WORDS.length)]]
        text += `09:${line % 60} request ${line} ${method} ${word} took ${next(1_000_000)} µs, ref ${next(2 ** 31).toString(16)}\n`
      }
      if (rare[0] && printed + length >= rare[0].at) {
        text += `${rare.shift()!.text}\n`
        line += 1
      }
      entries.push([line, 1, text])
      length += text.length
    }
    const size = Buffer.byteLength(entries.map(([, , text]) => text).join(''))
    printed += size
    yield { entries, lines: line - from, bytes: size }
  }
}
