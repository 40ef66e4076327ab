import { closeSync, openSync, readSync } from 'node:fs'

/** A line that the process of an attempt wrote about itself. */
export interface TraceLine {
  /** `clash`: it began while another process still held one of its keys. */
  readonly what: 'begin' | 'clash' | 'signalled' | 'stopped' | 'end'
  readonly run: string
  readonly attempt: number
  readonly fence: string
  readonly keys: readonly string[]
}

/** All lines written so far, in order. */
export interface TraceLog {
  lines(): readonly TraceLine[]
  /** How many attempts have begun. */
  begun(): number
  /** Attempts that have begun and have neither an end nor a successor in the log. */
  running(): readonly TraceLine[]
  close(): void
}

const CHUNK_BYTES = 256 * 1024

/** Reads a file that other processes append to, each time from the last position. */
export function openTraceLog(path: string): TraceLog {
  const file = openSync(path, 'a+')
  const chunk = Buffer.alloc(CHUNK_BYTES)
  const lines: TraceLine[] = []
  const latest = new Map<string, TraceLine>()
  let begun = 0
  let offset = 0
  let rest = ''

  const add = (line: TraceLine) => {
    lines.push(line)
    if (isBeginning(line)) begun += 1
    for (const key of line.keys) latest.set(key, line)
  }
  const catchUp = () => {
    for (;;) {
      const bytes = readSync(file, chunk, 0, CHUNK_BYTES, offset)
      if (bytes === 0) return
      offset += bytes
      const whole = (rest + chunk.toString('utf8', 0, bytes)).split('\n')
      rest = whole.pop() ?? ''
      for (const text of whole) add(parseLine(text))
    }
  }

  return {
    lines() {
      catchUp()
      return lines
    },
    begun() {
      catchUp()
      return begun
    },
    running() {
      catchUp()
      return [...new Set(latest.values())].filter(isBeginning)
    },
    close: () => closeSync(file),
  }
}

export function isBeginning({ what }: TraceLine): boolean {
  return what === 'begin' || what === 'clash'
}

export function parseLine(text: string): TraceLine {
  const [what = '', run = '', attempt, fence = '', ...keys] = text.split(' ')
  return { what: what as TraceLine['what'], run, attempt: Number(attempt), fence, keys }
}
