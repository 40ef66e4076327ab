import { chmodSync } from 'node:fs'
import type { Clock } from '../../../core/clock.ts'
import type { User } from '../../launcher/messages.ts'
import { createDirectoryPool, type DirectoryPool } from './directory-pool.ts'
import { removeTree } from './remove-tree.ts'
import { findSecretDirectory } from './secret-directory.ts'
import { makeWorkerDirectory } from './worker-directory.ts'

interface DirectoriesOptions {
  readonly clock: Pick<Clock, 'mono'>
  /** Processes of other users read their secret files; if absent, only this user does. */
  readonly isForOthers?: boolean
  onError(error: unknown): void
}

/** The directories that a worker creates for the files of its attempts. */
export class AttemptDirectories {
  /** For files of the worker's own user. */
  readonly own = makeWorkerDirectory()
  readonly #options: DirectoriesOptions
  readonly #pools = new Map<string, DirectoryPool>()
  readonly #removals = new Set<Promise<void>>()
  #traversable: string | undefined
  #secrets: string | undefined

  constructor(options: DirectoriesOptions) {
    this.#options = options
  }

  /** Only for files written by launchers: no other user can create files in it. */
  secrets(): string {
    if (this.#secrets !== undefined) return this.#secrets
    this.#secrets = makeWorkerDirectory(findSecretDirectory().path)
    if (this.#options.isForOthers) chmodSync(this.#secrets, 0o711)
    return this.#secrets
  }

  /** `tmp`: temporary directories. `own`: directories for all files of attempts of another user. */
  pool(kind: 'tmp' | 'own', owner: User | undefined): DirectoryPool {
    const name = owner ? `${kind}-${owner.uid}-${owner.gid}` : kind
    const known = this.#pools.get(name)
    if (known) return known
    const created = createDirectoryPool(owner ? this.#forOthers() : this.own, name, {
      clock: this.#options.clock,
      owner,
      remove: (path) => this.#removeLater(path),
    })
    this.#pools.set(name, created)
    return created
  }

  async remove(onError: (error: unknown) => void): Promise<void> {
    await Promise.all(this.#removals)
    for (const path of [this.own, this.#traversable, this.#secrets]) {
      if (path !== undefined) await removeTree(path).catch(onError)
    }
  }

  /** Other users must be able to traverse to their own files, but not through the worker's. */
  #forOthers(): string {
    if (this.#traversable !== undefined) return this.#traversable
    const path = makeWorkerDirectory()
    chmodSync(path, 0o711)
    this.#traversable = path
    return path
  }

  #removeLater(path: string): void {
    const removal = removeTree(path).catch(this.#options.onError)
    this.#removals.add(removal)
    void removal.then(() => this.#removals.delete(removal))
  }
}
