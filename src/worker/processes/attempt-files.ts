import { constants, lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LIMITS } from '../../core/limits.ts'
import { refuseResult } from '../../core/result.ts'
import type { Assignment } from '../../core/protocol.ts'
import type { AttemptFiles } from './command.ts'

/** A directory that only this worker can look into, and the files of its attempts in it. */
export interface FileRoom {
  filesOf(assignment: Assignment): AttemptFiles
  /** Writes what the process will want to read. Most want nothing, and cost nothing. */
  prepare(assignment: Assignment, files: AttemptFiles): Promise<void> | undefined
  /** What the process left as its result: text, nothing, or a sentence that says what is wrong. */
  readResult(files: AttemptFiles): Promise<{ text?: string; problem?: string }>
  clear(assignment: Assignment, files: AttemptFiles): Promise<void>
  close(): void
}

/**
 * Most processes leave nothing, and to find that out must cost nothing: a look of a few microseconds,
 * where asking another thread to look and waking up for its answer took a hundred.
 */
const IF_THERE = { throwIfNoEntry: false } as const

/** The file that was looked at, even if it has been exchanged for a link or a pipe since. */
const ITSELF = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export function createFileRoom(): FileRoom {
  const directory = mkdtempSync(join(tmpdir(), 'punctual-worker-'))
  return {
    filesOf({ run, fence }) {
      const name = join(directory, `${run}.${fence}`)
      return { input: `${name}.input`, output: `${name}.output`, script: `${name}.script` }
    },

    prepare({ input, work }, files) {
      const writes: Promise<void>[] = []
      if (input !== null) writes.push(writeFile(files.input, input, { mode: 0o600 }))
      if (work?.executor === 'script') {
        writes.push(writeFile(files.script, work.script, { mode: 0o700 }))
      }
      return writes.length === 0 ? undefined : Promise.all(writes).then(() => {})
    },

    async readResult({ output }) {
      const found = lstatSync(output, IF_THERE)
      if (!found) return {}
      // Opening a pipe would wait for its other end, and soon nobody here could open anything. A link
      // may lead to what the process itself must not read.
      if (!found.isFile()) return { problem: 'the result is not a file' }
      if (found.size > LIMITS.resultBytes) {
        const most = LIMITS.resultBytes
        return { problem: `the result has ${found.size} bytes; at most ${most} are accepted` }
      }
      const text = (await readFile(output, { encoding: 'utf8', flag: ITSELF })).trim()
      return text === '' ? {} : resultOf(text)
    },

    async clear({ input, work }, files) {
      const names = lstatSync(files.output, IF_THERE) ? [files.output] : []
      if (input !== null) names.push(files.input)
      if (work?.executor === 'script') names.push(files.script)
      await Promise.all(names.map((name) => rm(name, { force: true })))
    },

    close: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function resultOf(text: string): { text?: string; problem?: string } {
  const refused = refuseResult(text)
  return refused === undefined ? { text } : { problem: `the result ${refused}` }
}
