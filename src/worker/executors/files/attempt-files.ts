import { constants, lstatSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../../core/clock.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { Assignment } from '../../../core/wire/protocol.ts'
import type { GivenSecret } from '../../../core/secrets/secret.ts'
import { maskedResult } from '../../output/masking/masked-result.ts'
import type { Masker } from '../../output/masking/masker.ts'
import type { SecretFiles, User } from '../../launcher/messages.ts'
import { AttemptDirectories } from './attempt-directories.ts'

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

interface FileStoreOptions {
  readonly clock: Pick<Clock, 'mono'>
  /** Processes of other users read their secret files; if absent, only this user does. */
  readonly isForOthers?: boolean
  onError(error: unknown): void
}

export function createAttemptFileStore(options: FileStoreOptions): AttemptFileStore {
  return new LocalFileStore(options)
}

class LocalFileStore implements AttemptFileStore {
  readonly #options: FileStoreOptions
  readonly #directories: AttemptDirectories

  constructor(options: FileStoreOptions) {
    this.#options = options
    this.#directories = new AttemptDirectories(options)
  }

  open({ run, fence, work }: Assignment, owner: User | undefined): AttemptFiles {
    const own = owner && this.#directories.pool('own', owner).take()
    const name = join(own ?? this.#directories.own, `${run}.${fence}`)
    const secret = join(this.#directories.secrets(), secretName(run, fence))
    const hasOwnTmp = work?.env?.['TMPDIR'] !== undefined
    return {
      input: `${name}.input`,
      output: `${name}.output`,
      script: `${name}.script`,
      secrets: `${secret}.secret.`,
      envFile: `${secret}.env`,
      tmp: hasOwnTmp ? undefined : this.#directories.pool('tmp', owner).take(),
      owner,
      own,
    }
  }

  secretFiles(
    { run, fence, secrets }: Assignment,
    { mode = 0o600, envFile }: { readonly mode?: number; readonly envFile?: string } = {},
  ): SecretFiles | undefined {
    const name = secretName(run, fence)
    const files = asFiles(secrets).map((secret) => {
      return { name: `${name}.secret.${secret.name}`, mode, content: secret.value }
    })
    if (envFile !== undefined) files.push({ name: `${name}.env`, mode: 0o600, content: envFile })
    return files.length === 0 ? undefined : { directory: this.#directories.secrets(), files }
  }

  prepare({ input, work }: Assignment, files: AttemptFiles): Promise<void> | undefined {
    const { owner } = files
    const writes: Promise<void>[] = []
    if (input !== null) writes.push(writeFor(owner, files.input, input, 0o600))
    if (work?.executor === 'script') {
      writes.push(writeFor(owner, files.script, work.script, 0o700))
    }
    return writes.length === 0 ? undefined : Promise.all(writes).then(() => {})
  }

  async readResult(
    { output, owner }: AttemptFiles,
    masker: Masker,
  ): Promise<{ text?: string; problem?: string }> {
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
  }

  async clear({ input, work, secrets }: Assignment, files: AttemptFiles): Promise<void> {
    const { owner, own, tmp } = files
    // The launcher has deleted them, unless it was killed.
    for (const { name } of asFiles(secrets)) await rm(files.secrets + name, { force: true })
    if (work?.executor === 'container') await rm(files.envFile, { force: true })
    if (tmp !== undefined) this.#directories.pool('tmp', owner).giveBack(tmp)
    if (own !== undefined) return this.#directories.pool('own', owner).giveBack(own)
    const names = lstatSync(files.output, NO_THROW) ? [files.output] : []
    if (input !== null) names.push(files.input)
    if (work?.executor === 'script') names.push(files.script)
    await Promise.all(names.map((name) => rm(name, { force: true })))
  }

  close(): Promise<void> {
    return this.#directories.remove(this.#options.onError)
  }
}

/** Creates a file for the attempt. `owner` is its user, if not the worker's own. */
async function writeFor(
  owner: User | undefined,
  path: string,
  text: string,
  mode: number,
): Promise<void> {
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
