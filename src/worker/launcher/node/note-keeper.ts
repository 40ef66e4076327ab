import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { nameOf, NOTE, ownIdentity } from '../notes.ts'
import { type Mark, startedTicks } from '../process-tree.ts'

/** Notes what a launcher has under way. */
export interface NoteKeeper {
  /** Returns what strikes it out again. */
  add(leader: number, mark: Mark): () => void
  close(): void
}

const NOTHING: NoteKeeper = { add: () => () => {}, close() {} }

export function keepNotes(directory: string): NoteKeeper {
  if (directory === '' || process.platform !== 'linux') return NOTHING
  const path = join(directory, nameOf(ownIdentity()))
  const fd = openSync(path, 'w', 0o600)
  const free: number[] = []
  let places = 0

  const write = (place: number, line: string) => {
    const text = `${line.padEnd(NOTE.size - 1)}\n`
    if (text.length === NOTE.size) writeSync(fd, text, NOTE.head + place * NOTE.size, 'latin1')
  }
  return {
    add(leader, { run, fence }) {
      const place = free.pop() ?? places++
      write(place, `${leader} ${startedTicks(leader) ?? 0} ${run || '-'} ${fence || '-'}`)
      return () => {
        write(place, '')
        free.push(place)
      }
    },
    close() {
      closeSync(fd)
      unlinkSync(path)
    },
  }
}
