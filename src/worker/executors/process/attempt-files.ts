import { chmodSync, constants, lstatSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../../core/clock.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { Assignment } from '../../../core/wire/protocol.ts'
import type { GivenSecret } from '../../../core/work/secret.ts'
import { maskedResult } from '../../output/masking/masked-result.ts'
import type { Masker } from '../../output/masking/masker.ts'
import type { User } from '../../launcher/messages.ts'
import { createDirectoryPool, type DirectoryPool } from './directory-pool.ts'
import { removeTree } from './remove-tree.ts'
import { makeRoom } from './worker-directory.ts'

/** Files that belong to one attempt; they need not exist. */
export interface AttemptFiles {
  readonly input: string
  readonly output: string
  readonly script: string
  /** How the paths of secrets begin that are wanted as files; their names follow. */
  readonly secrets: string
  /** Its temporary directory, unless it brings one. */
  readonly tmp: string | undefined
  /** Whose they are, if not the worker's; and where, because nobody else may make files there. */
  readonly owner?: User | undefined
  readonly own?: string | undefined
}

/** A directory for the files of this worker's attempts. */
export interface FileRoom {
  /** Names the files of an attempt, and makes its directories. Throws if there is no room. */
  open(assignment: Assignment, owner: User | undefined): AttemptFiles
  /** Writes what the process will want to read. Most want nothing, and cost nothing. */
  prepare(assignment: Assignment, files: AttemptFiles): Promise<void> | undefined
  /** What the process left as its result: text, nothing, or a sentence that says what is wrong. */
  readResult(files: AttemptFiles, masker: Masker): Promise<{ text?: string; problem?: string }>
  clear(assignment: Assignment, files: AttemptFiles): Promise<void>
  close(): Promise<void>
}

/**
 * Most processes leave nothing, and to find that out must cost nothing: a look of a few microseconds,
 * where asking another thread to look and waking up for its answer took a hundred.
 */
const IF_THERE = { throwIfNoEntry: false } as const

/** The file that was looked at, even if it has been exchanged for a link or a pipe since. */
const ITSELF = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export function createFileRoom(options: {
  readonly clock: Pick<Clock, 'mono'>
  onError(error: unknown): void
}): FileRoom {
  const directory = makeRoom()
  let passage: string | undefined
  // Other users must pass through to what is theirs, and not by what is ours.
  const openPassage = () => {
    const path = makeRoom()
    chmodSync(path, 0o711)
    return path
  }
  const pools = new Map<string, DirectoryPool>()
  const removals = new Set<Promise<void>>()
  const remove = (path: string) => {
    const removal = removeTree(path).catch(options.onError)
    removals.add(removal)
    void removal.then(() => removals.delete(removal))
  }
  const pool = (kind: 'tmp' | 'own', owner: User | undefined) => {
    const name = owner ? `${kind}-${owner.uid}-${owner.gid}` : kind
    const known = pools.get(name)
    if (known) return known
    const root = owner ? (passage ??= openPassage()) : directory
    const fresh = createDirectoryPool(root, name, { ...options, owner, remove })
    pools.set(name, fresh)
    return fresh
  }

  return {
    open({ run, fence, work }, owner) {
      const own = owner && pool('own', owner).take()
      const name = join(own ?? directory, `${run}.${fence}`)
      return {
        input: `${name}.input`,
        output: `${name}.output`,
        script: `${name}.script`,
        secrets: `${name}.secret.`,
        tmp: work?.env?.['TMPDIR'] === undefined ? pool('tmp', owner).take() : undefined,
        owner,
        own,
      }
    },

    prepare({ input, work, secrets }, { owner, ...files }) {
      const write = async (path: string, text: string, mode: number) => {
        const file = await open(path, 'wx', mode)
        try {
          // By the file and not by its name, which in a directory of theirs could mean another soon.
          if (owner) await file.chown(owner.uid, owner.gid)
          await file.writeFile(text)
        } finally {
          await file.close()
        }
      }
      const writes: Promise<void>[] = []
      if (input !== null) writes.push(write(files.input, input, 0o600))
      if (work?.executor === 'script') writes.push(write(files.script, work.script, 0o700))
      for (const { name, value } of asFiles(secrets)) {
        writes.push(write(files.secrets + name, value, 0o600))
      }
      return writes.length === 0 ? undefined : Promise.all(writes).then(() => {})
    },

    async readResult({ output, owner }, masker) {
      const found = lstatSync(output, IF_THERE)
      if (!found) return {}
      // Opening a pipe would wait for its other end, and soon nobody here could open anything. A link
      // may lead to what the process itself must not read.
      if (!found.isFile()) return { problem: 'the result is not a file' }
      const file = await open(output, ITSELF)
      try {
        const { size, uid } = await file.stat()
        // A second name for somebody else's file, which we may read and the process may not.
        if (owner && uid !== owner.uid) return { problem: 'the result is not a file of its own' }
        if (size > LIMITS.resultBytes) {
          const most = LIMITS.resultBytes
          return { problem: `the result has ${size} bytes; at most ${most} are accepted` }
        }
        const text = (await file.readFile('utf8')).trim()
        return text === '' ? {} : resultOf(text, masker)
      } finally {
        await file.close()
      }
    },

    async clear({ input, work, secrets }, { owner, own, ...files }) {
      if (files.tmp !== undefined) pool('tmp', owner).giveBack(files.tmp)
      if (own !== undefined) return pool('own', owner).giveBack(own)
      const names = lstatSync(files.output, IF_THERE) ? [files.output] : []
      if (input !== null) names.push(files.input)
      if (work?.executor === 'script') names.push(files.script)
      for (const { name } of asFiles(secrets)) names.push(files.secrets + name)
      await Promise.all(names.map((name) => rm(name, { force: true })))
    },

    async close() {
      await Promise.all(removals)
      for (const path of [directory, ...(passage === undefined ? [] : [passage])]) {
        await removeTree(path).catch(options.onError)
      }
    },
  }
}

function asFiles(secrets: readonly GivenSecret[] = []): readonly GivenSecret[] {
  return secrets.filter(({ as }) => as === 'file')
}

function resultOf(text: string, masker: Masker): { text?: string; problem?: string } {
  const { problem, ...result } = maskedResult(text, masker)
  return problem === undefined ? result : { problem: `the result ${problem}` }
}
