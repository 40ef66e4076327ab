import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { nameOf, NOTE, ownIdentity } from '../notes.ts'
import { type Mark, startedTicks } from '../process-tree.ts'

/** Notes what a launcher has under way. */
export interface NoteKeeper {
  /** Returns what strikes it out again. Throws if there is no room for it. */
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
    if (text.length !== NOTE.size) return
    const written = writeSync(fd, text, NOTE.head + place * NOTE.size, 'latin1')
    if (written < text.length) throw new Error('no space left for all of it')
  }
  const strikeOut = (place: number) => {
    free.push(place)
    try {
      write(place, '')
    } catch {
      // It names a process that is dead, by the instant of its start: nobody else is taken for it.
    }
  }
  return {
    add(leader, { run, fence }) {
      const place = free.pop() ?? places++
      try {
        write(place, `${leader} ${startedTicks(leader) ?? 0} ${run || '-'} ${fence || '-'}`)
      } catch (error) {
        strikeOut(place)
        throw error
      }
      return () => strikeOut(place)
    },
    close() {
      closeSync(fd)
      unlinkSync(path)
    },
  }
}
