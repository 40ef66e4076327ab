import { chmodSync, constants, lstatSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../../core/clock.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { Assignment } from '../../../core/wire/protocol.ts'
import type { GivenSecret } from '../../../core/secrets/secret.ts'
import { maskedResult } from '../../output/masking/masked-result.ts'
import type { Masker } from '../../output/masking/masker.ts'
import type { SecretFiles, User } from '../../launcher/messages.ts'
import { createDirectoryPool, type DirectoryPool } from './directory-pool.ts'
import { removeTree } from './remove-tree.ts'
import { makeWorkerDirectory } from './worker-directory.ts'
import { findSecretDirectory } from './secret-directory.ts'

/** Paths of the files of one attempt; the files need not exist. */
export interface AttemptFiles {
  readonly input: string
  readonly output: string
  readonly script: string
  /** The common prefix of the paths of secret files; the names of the secrets follow. */
  readonly secrets: string
  /** For variables that may hold secrets, where they cannot be passed as variables. */
  readonly envFile: string
  /** Its temporary directory, unless the job sets one. */
  readonly tmp: string | undefined
  /** The owner of the files, if not the worker's user. */
  readonly owner?: User | undefined
  readonly own?: string | undefined
}

/** A directory for the files of this worker's attempts. */
export interface AttemptFileStore {
  /** Chooses the paths of an attempt and creates its directories. Throws if there is no space. */
  open(assignment: Assignment, owner: User | undefined): AttemptFiles
  /**
   * Writes the files that the process reads. Returns undefined if there are none, which is common.
   */
  prepare(assignment: Assignment, files: AttemptFiles): Promise<void> | undefined
  /**
   * The secret files that the launcher writes and deletes. `envFile` is the content of that file,
   * if wanted.
   */
  secretFiles(
    assignment: Assignment,
    options?: { readonly mode?: number; readonly envFile?: string },
  ): SecretFiles | undefined
  /**
   * The result that the process left: text, nothing, or a message that says what is wrong with it.
   */
  readResult(files: AttemptFiles, masker: Masker): Promise<{ text?: string; problem?: string }>
  clear(assignment: Assignment, files: AttemptFiles): Promise<void>
  close(): Promise<void>
}

/**
 * Most processes leave no result, so the check must be cheap: a synchronous stat takes a few
 * microseconds, where the asynchronous one takes about a hundred.
 */
const NO_THROW = { throwIfNoEntry: false } as const

/** Opens the file that was checked, even if it was replaced by a link or a pipe since. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export function createAttemptFileStore(options: {
  readonly clock: Pick<Clock, 'mono'>
  /** Processes of other users read their secret files; if absent, only this user does. */
  readonly isForOthers?: boolean
  onError(error: unknown): void
}): AttemptFileStore {
  const directory = makeWorkerDirectory()
  let traversable: string | undefined
  // Other users must be able to traverse to their own files, but not through the worker's.
  const openForTraversal = () => {
    const path = makeWorkerDirectory()
    chmodSync(path, 0o711)
    return path
  }
  let secrets: string | undefined
  /** Only for files written by launchers: no other user can create files in it. */
  const secretDirectory = () => {
    if (secrets !== undefined) return secrets
    secrets = makeWorkerDirectory(findSecretDirectory().path)
    if (options.isForOthers) chmodSync(secrets, 0o711)
    return secrets
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
    const root = owner ? (traversable ??= openForTraversal()) : directory
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
        secrets: join(secretDirectory(), `${secretName(run, fence)}.secret.`),
        envFile: join(secretDirectory(), `${secretName(run, fence)}.env`),
        tmp: work?.env?.['TMPDIR'] === undefined ? pool('tmp', owner).take() : undefined,
        owner,
        own,
      }
    },

    secretFiles({ run, fence, secrets }, { mode = 0o600, envFile } = {}) {
      const name = secretName(run, fence)
      const files = asFiles(secrets).map((secret) => {
        return { name: `${name}.secret.${secret.name}`, mode, content: secret.value }
      })
      if (envFile !== undefined) files.push({ name: `${name}.env`, mode: 0o600, content: envFile })
      return files.length === 0 ? undefined : { directory: secretDirectory(), files }
    },

    prepare({ input, work }, { owner, ...files }) {
      const write = async (path: string, text: string, mode: number) => {
        const file = await open(path, 'wx', mode)
        try {
          // Via the open file: in a directory of another user, the name could mean a different file
          // soon.
          if (owner) await file.chown(owner.uid, owner.gid)
          await file.writeFile(text)
        } finally {
          await file.close()
        }
      }
      const writes: Promise<void>[] = []
      if (input !== null) writes.push(write(files.input, input, 0o600))
      if (work?.executor === 'script') writes.push(write(files.script, work.script, 0o700))
      return writes.length === 0 ? undefined : Promise.all(writes).then(() => {})
    },

    async readResult({ output, owner }, masker) {
      const found = lstatSync(output, NO_THROW)
      if (!found) return {}
      // Opening a pipe would block a thread until its other end opens. A link may lead to a file
      // that the process itself must not read.
      if (!found.isFile()) return { problem: 'the result is not a file' }
      const file = await open(output, OPEN_FLAGS)
      try {
        const { size, uid } = await file.stat()
        // A hard link to another user's file, which the worker may read and the process may not.
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

    async clear({ input, work, secrets: given }, { owner, own, ...files }) {
      // The launcher has deleted them, unless it was killed.
      for (const { name } of asFiles(given)) await rm(files.secrets + name, { force: true })
      if (work?.executor === 'container') await rm(files.envFile, { force: true })
      if (files.tmp !== undefined) pool('tmp', owner).giveBack(files.tmp)
      if (own !== undefined) return pool('own', owner).giveBack(own)
      const names = lstatSync(files.output, NO_THROW) ? [files.output] : []
      if (input !== null) names.push(files.input)
      if (work?.executor === 'script') names.push(files.script)
      await Promise.all(names.map((name) => rm(name, { force: true })))
    },

    async close() {
      await Promise.all(removals)
      for (const path of [directory, traversable, secrets]) {
        if (path !== undefined) await removeTree(path).catch(options.onError)
      }
    },
  }
}

/** The launcher writes to this name in a directory that contains only secrets. */
function secretName(run: string, fence: number): string {
  return `${run}.${fence}`
}

function asFiles(secrets: readonly GivenSecret[] = []): readonly GivenSecret[] {
  return secrets.filter(({ as }) => as === 'file')
}

function resultOf(text: string, masker: Masker): { text?: string; problem?: string } {
  const { problem, ...result } = maskedResult(text, masker)
  return problem === undefined ? result : { problem: `the result ${problem}` }
}
