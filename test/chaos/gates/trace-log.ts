import { closeSync, openSync, readSync } from 'node:fs'

/** What a process of an attempt wrote about itself. */
export interface Line {
  /** `clash`: it began while somebody else still had one of its keys. */
  readonly what: 'begin' | 'clash' | 'told' | 'stopped' | 'end'
  readonly run: string
  readonly attempt: number
  readonly fence: string
  readonly keys: readonly string[]
}

/** Everything that was written so far, in order. */
export interface Truth {
  lines(): readonly Line[]
  /** How many attempts have begun. */
  begun(): number
  /** Attempts that have begun and were not seen to end, nor to have a successor. */
  underWay(): readonly Line[]
  close(): void
}

const CHUNK_BYTES = 256 * 1024

/** Reads a file that others append to, each time from where it was left. */
export function readTruth(path: string): Truth {
  const file = openSync(path, 'a+')
  const chunk = Buffer.alloc(CHUNK_BYTES)
  const lines: Line[] = []
  const latest = new Map<string, Line>()
  let begun = 0
  let offset = 0
  let rest = ''

  const add = (line: Line) => {
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
    underWay() {
      catchUp()
      return [...new Set(latest.values())].filter(isBeginning)
    },
    close: () => closeSync(file),
  }
}

export function isBeginning({ what }: Line): boolean {
  return what === 'begin' || what === 'clash'
}

export function parseLine(text: string): Line {
  const [what = '', run = '', attempt, fence = '', ...keys] = text.split(' ')
  return { what: what as Line['what'], run, attempt: Number(attempt), fence, keys }
}
