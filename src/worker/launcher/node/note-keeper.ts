import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { nameOf, NOTE, ownIdentity } from '../notes.ts'
import { type Mark, startedTicks } from '../process-tree.ts'

/** Records the running processes of a launcher. */
export interface NoteKeeper {
  /** Returns a function that erases the record. Throws if there is no space for it. */
  add(leader: number, mark: Mark): () => void
  close(): void
}

const NOTHING: NoteKeeper = { add: () => () => {}, close() {} }

export function keepNotes(directory: string): NoteKeeper {
  if (directory === '' || process.platform !== 'linux') return NOTHING
  const path = join(directory, nameOf(ownIdentity()))
  const fd = openSync(path, 'w', 0o600)
  const free: number[] = []
  let slots = 0

  const write = (place: number, line: string) => {
    const text = `${line.padEnd(NOTE.size - 1)}\n`
    if (text.length !== NOTE.size) return
    const written = writeSync(fd, text, NOTE.head + place * NOTE.size, 'latin1')
    if (written < text.length) throw new Error('no space left for all of it')
  }
  const erase = (place: number) => {
    free.push(place)
    try {
      write(place, '')
    } catch {
      // The record names a dead process by its start time, so no other process is mistaken for it.
    }
  }
  return {
    add(leader, { run, fence }) {
      const place = free.pop() ?? slots++
      try {
        write(place, `${leader} ${startedTicks(leader) ?? 0} ${run || '-'} ${fence || '-'}`)
      } catch (error) {
        erase(place)
        throw error
      }
      return () => erase(place)
    },
    close() {
      closeSync(fd)
      unlinkSync(path)
    },
  }
}
